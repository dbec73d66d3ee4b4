// The completion script for bash (3.2 and later; it needs no bash-completion package).
import type { CompletedCommand, CompletionModel } from './model.ts';
import { quoted } from './model.ts';

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
# What may follow an option: words, "file:" for a file, "free:" for anything. Nothing where it takes no value.
_bke_values() {
  case "$1 $2" in
${model.commands.flatMap(valueArms).join('\n')}
  esac
}
_bke_arguments() {
  case "$1" in
${model.commands.flatMap(({ path, argument }) => (argument.length === 0 ? [] : [arm(path, argument)])).join('\n')}
    *) ;;
  esac
}
_bke() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="" path="" word next values i
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
    ?*) COMPREPLY=($(compgen -W "$values" -- "$cur")); return ;;
  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$(_bke_options "$path")" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -W "$(_bke_children "$path") $(_bke_arguments "$path")" -- "$cur")) ;;
  esac
}
complete -o filenames -o bashdefault -F _bke bke
`;
}

function arm(path: string, words: readonly string[]): string {
  return `    ${quoted(path, `'\\''`)}) echo ${quoted(words.join(' '), `'\\''`)} ;;`;
}

function valueArms({ path, options }: CompletedCommand): string[] {
  return options.flatMap(({ long, short, value }) => {
    if (value === 'none') return [];
    const patterns = [long, short].flatMap((name) => (name === undefined ? [] : [quoted(`${path} ${name}`, `'\\''`)]));
    const words = typeof value === 'string' ? `${value}:` : value.join(' ');
    return [`    ${patterns.join(' | ')}) echo ${quoted(words, `'\\''`)} ;;`];
  });
}
