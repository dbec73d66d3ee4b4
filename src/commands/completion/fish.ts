// The completion script for fish (3.4 and later), with the summaries beside the words.
import { type CompletedCommand, type CompletedOption, type CompletionModel, quoted } from './model.ts';

export function fishCompletion(model: CompletionModel): string {
  const prefixes = model.commands.flatMap(({ path }) =>
    path.split(' ').map((_, i, all) => all.slice(0, i + 1).join(' ')),
  );
  const words = [...model.children].flatMap(([path, children]) =>
    [...children].map(([word, summary]) => `complete -c bke -n ${at(path)} -a ${quote(word)} -d ${quote(summary)}`),
  );
  return `# fish completion for bke. Load it with: bke completion fish | source
function __bke_at
    set -l path
    for word in (commandline -opc)[2..]
        set -l next (string join ' ' -- $path $word)
        if contains -- "$next" ${[...new Set(prefixes)].map(quote).join(' ')}
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
  const words = argument.length === 0 ? [] : [`complete -c bke -n ${at(path)} -a ${quote(argument.join(' '))}`];
  return [...words, ...options.map((option) => optionLine(path, option))];
}

function optionLine(path: string, { long, short, summary, value }: CompletedOption): string {
  const names = [`-l ${long.slice(2)}`, ...(short === undefined ? [] : [`-s ${short.slice(1)}`])].join(' ');
  return `complete -c bke -n ${at(path)} ${names}${valuePart(value)} -d ${quote(summary)}`;
}

function valuePart(value: CompletedOption['value']): string {
  if (value === 'none') return '';
  if (value === 'file') return ' -r -F';
  return value === 'free' ? ' -x' : ` -x -a ${quote(value.join(' '))}`;
}

function at(path: string): string {
  return quote(`__bke_at ${quote(path)}`);
}

function quote(text: string): string {
  return quoted(text.replaceAll('\\', '\\\\'), "\\'");
}
