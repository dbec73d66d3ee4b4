// The completion script for fish (3.4 and later), with the summaries beside the words.
import { type CompletedCommand, type CompletedOption, type CompletionModel, type NamesFrom, quoted } from './model.ts';

export function fishCompletion(model: CompletionModel): string {
  const words = [...model.children].flatMap(([path, children]) =>
    [...children].map(([word, summary]) => `complete -c bke -n ${at(path)} -a ${quote(word)} -d ${quote(summary)}`),
  );
  return `# fish completion for bke. Load it with: bke completion fish | source
function __bke_at
    set -l path
    for word in (commandline -opc)[2..]
        set -l next (string join ' ' -- $path $word)
        if contains -- "$next" ${model.paths.map(quote).join(' ')}
            set path $path $word
        end
    end
    test "$(string join ' ' -- $path)" = "$argv[1]"
end
complete -c bke -f
${[...words, ...model.commands.flatMap(commandLines)].join('\n')}
`;
}

function commandLines({ path, options, argument }: CompletedCommand): string[] {
  const offered = 'namesFrom' in argument ? namesOf(argument) : argument.join(' ');
  const words = offered === '' ? [] : [`complete -c bke -n ${at(path)} -a ${quote(offered)}`];
  return [...words, ...options.map((option) => optionLine(path, option))];
}

function optionLine(path: string, { long, short, summary, value }: CompletedOption): string {
  const names = [`-l ${long.slice(2)}`, ...(short === undefined ? [] : [`-s ${short.slice(1)}`])].join(' ');
  return `complete -c bke -n ${at(path)} ${names}${valuePart(value)} -d ${quote(summary)}`;
}

function valuePart(value: CompletedOption['value']): string {
  if (value === 'none') return '';
  if (value === 'file') return ' -r -F';
  if (value === 'free') return ' -x';
  return ` -x -a ${quote('namesFrom' in value ? namesOf(value) : value.join(' '))}`;
}

/** What a list command names, where it can tell so at once. */
function namesOf({ namesFrom }: NamesFrom): string {
  return `(timeout 2 bke ${namesFrom} -o name </dev/null 2>/dev/null)`;
}

function at(path: string): string {
  return quote(`__bke_at ${quote(path)}`);
}

function quote(text: string): string {
  return quoted(text.replaceAll('\\', '\\\\'), "\\'");
}
