// Which renderers an operation is shown by: progress on stderr, plans and -o json on stdout (bke help progress, bke help output).
import type { GlobalValues } from '../../lib/global-options.ts';
import type { Io } from '../io.ts';
import { createTheme, wantsColor } from '../theme.ts';
import { jsonRenderer } from './json.ts';
import { plainRenderer } from './plain.ts';
import { planRenderer } from './plan.ts';
import type { Renderer } from './renderer.ts';
import { terminalRenderer } from './terminal.ts';

/** @param json -o json of a command that acts: events to stdout; people are shown progress only where --progress says so. */
export function createRenderer(io: Io, globals: GlobalValues, json: boolean): Renderer {
  const hidden = globals.quiet || (json && globals.progress === 'auto');
  const progress = hidden ? linesOnly(io) : progressRenderer(io, globals);
  const theme = createTheme(wantsColor(io.env, io.stdout, globals.color));
  const data = json ? jsonRenderer(io.stdout) : planRenderer((text) => io.stdout.write(text), theme, globals.verbose);
  return {
    handle: (event) => {
      progress.handle(event);
      data.handle(event);
    },
    line: (text) => progress.line(text),
    close: () => {
      progress.close();
      data.close();
    },
  };
}

function linesOnly({ stderr }: Io): Renderer {
  return { handle: () => {}, line: (text) => void stderr.write(`${text}\n`), close: () => {} };
}

function progressRenderer(io: Io, globals: GlobalValues): Renderer {
  const { stderr: stream, env, now } = io;
  const canMove = stream.isTTY === true && env['TERM'] !== 'dumb';
  const mode = globals.progress === 'auto' ? (canMove ? 'tty' : 'plain') : globals.progress;
  if (mode === 'json') return { ...linesOnly(io), handle: (event) => jsonRenderer(stream).handle(event) };
  // -v wants to see what was done, and a frame forgets it.
  if (mode === 'plain' || (globals.progress === 'auto' && globals.verbose > 0)) {
    return plainRenderer({ stream, now, verbosity: globals.verbose });
  }
  return terminalRenderer({ stream, theme: createTheme(wantsColor(env, stream, globals.color)), now });
}
