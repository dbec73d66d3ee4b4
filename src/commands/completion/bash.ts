// The completion script for bash (3.2 and later; it needs no bash-completion package).
import type { CompletedCommand, CompletedOption, CompletionModel } from './model.ts';
import { namesFunction, quoted } from './model.ts';

export function bashCompletion(model: CompletionModel): string {
  const children = [...model.children].map(([path, words]) => arm(path, [...words.keys()]));
  const options = model.commands.map((command) =>
    arm(
      command.path,
      command.options.flatMap(({ long, short }) => (short === undefined ? [long] : [long, short])),
    ),
  );
  return `# bash completion for bke. Load it with: source <(bke completion bash)
_bke_children() {
  case "$1" in
${children.join('\n')}
  esac
}
_bke_options() {
  case "$1" in
${options.join('\n')}
  esac
}
# What may follow an option: words, "file:" for a file, "names:" with a list command, "free:" for anything. Nothing where it takes no value.
_bke_values() {
  case "$1 $2" in
${model.commands.flatMap(valueArms).join('\n')}
  esac
}
_bke_arguments() {
  case "$1" in
${model.commands.flatMap(argumentArm).join('\n')}
    *) ;;
  esac
}
${namesFunction}
_bke() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="" path="" word next values arguments i
  COMPREPLY=()
  if [ "$COMP_CWORD" -gt 0 ]; then prev="\${COMP_WORDS[COMP_CWORD-1]}"; fi
  # bash splits --option=value into three words
  if [ "$cur" = "=" ]; then cur=""
  elif [ "$prev" = "=" ] && [ "$COMP_CWORD" -gt 1 ]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    for next in $(_bke_children "$path"); do
      if [ "$next" = "$word" ]; then path="\${path:+$path }$word"; break; fi
    done
  done
  values="$(_bke_values "$path" "$prev")"
  case "$values" in
    file:) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    free:) return ;;
    names:*) COMPREPLY=($(compgen -W "$(_bke_names \${values#names:})" -- "$cur")); return ;;
    ?*) COMPREPLY=($(compgen -W "$values" -- "$cur")); return ;;
  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$(_bke_options "$path")" -- "$cur")) ;;
    *)
      arguments="$(_bke_arguments "$path")"
      case "$arguments" in names:*) arguments="$(_bke_names \${arguments#names:})" ;; esac
      COMPREPLY=($(compgen -W "$(_bke_children "$path") $arguments" -- "$cur")) ;;
  esac
}
complete -o filenames -o bashdefault -F _bke bke
`;
}

function arm(path: string, words: readonly string[]): string {
  return `    ${quoted(path, `'\\''`)}) echo ${quoted(words.join(' '), `'\\''`)} ;;`;
}

function argumentArm({ path, argument }: CompletedCommand): string[] {
  if ('namesFrom' in argument) return [arm(path, [`names:${argument.namesFrom}`])];
  return argument.length === 0 ? [] : [arm(path, argument)];
}

function wordsOf(value: CompletedOption['value']): string {
  if (typeof value === 'string') return `${value}:`;
  return 'namesFrom' in value ? `names:${value.namesFrom}` : value.join(' ');
}

function valueArms({ path, options }: CompletedCommand): string[] {
  return options.flatMap(({ long, short, value }) => {
    if (value === 'none') return [];
    const patterns = [long, short].flatMap((name) => (name === undefined ? [] : [quoted(`${path} ${name}`, `'\\''`)]));
    return [`    ${patterns.join(' | ')}) echo ${quoted(wordsOf(value), `'\\''`)} ;;`];
  });
}
