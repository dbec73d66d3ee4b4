// The completion script for zsh, with the summaries beside the words.
import { type CompletedCommand, type CompletionModel, type NamesFrom, namesFunction, quoted } from './model.ts';

export function zshCompletion(model: CompletionModel): string {
  return `#compdef bke
# zsh completion for bke. Load it with: source <(bke completion zsh)
${namesFunction}
_bke() {
  local cur="\${words[CURRENT]}" prev="\${words[CURRENT-1]}" at="" word i
  local -a entries
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    case "\${at:+$at }$word" in
      ${model.paths.map(quote).join(' | ')}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$cur" in
    --*=*) prev="\${cur%%=*}"; compset -P '*=' ;;
  esac
  case "$at $prev" in
${model.commands.flatMap(valueArms).join('\n')}
  esac
  case "$cur" in
    -*)
      case "$at" in
${model.commands.map(optionArm).join('\n')}
      esac
      _describe -o option entries
      return ;;
  esac
  case "$at" in
${[...model.children].map(([path, words]) => wordArm(path, [...words])).join('\n')}
${model.commands.flatMap(argumentArm).join('\n')}
    *) _files; return ;;
  esac
  _describe command entries
}
if [ "\${funcstack[1]}" = "_bke" ]; then _bke "$@"; else compdef _bke bke; fi
`;
}

function quote(text: string): string {
  return quoted(text, `'\\''`);
}

/** word:summary, where a colon in either would end the word. */
function entry(word: string, summary: string): string {
  return quote(`${word.replaceAll(':', '\\:')}:${summary}`);
}

function wordArm(path: string, words: readonly (readonly [string, string])[]): string {
  return `    ${quote(path)}) entries=(${words.map(([word, summary]) => entry(word, summary)).join(' ')}) ;;`;
}

function argumentArm({ path, argument }: CompletedCommand): string[] {
  if ('namesFrom' in argument) return [`    ${quote(path)}) entries=(${namesOf(argument)}) ;;`];
  return argument.length === 0 ? [] : [`    ${quote(path)}) entries=(${argument.map(quote).join(' ')}) ;;`];
}

function namesOf({ namesFrom }: NamesFrom): string {
  return `\${(f)"$(_bke_names ${namesFrom})"}`;
}

function optionArm({ path, options }: CompletedCommand): string {
  const entries = options.flatMap(({ long, short, summary }) =>
    [long, ...(short === undefined ? [] : [short])].map((name) => entry(name, summary)),
  );
  return `        ${quote(path)}) entries=(${entries.join(' ')}) ;;`;
}

function valueArms({ path, options }: CompletedCommand): string[] {
  return options.flatMap(({ long, short, value }) => {
    if (value === 'none') return [];
    const patterns = [long, ...(short === undefined ? [] : [short])]
      .map((name) => quote(`${path} ${name}`))
      .join(' | ');
    if (value === 'file') return [`    ${patterns}) _files; return ;;`];
    if (value === 'free') return [`    ${patterns}) _message value; return ;;`];
    const words = 'namesFrom' in value ? namesOf(value) : value.map(quote).join(' ');
    return [`    ${patterns}) entries=(${words}); _describe value entries; return ;;`];
  });
}
