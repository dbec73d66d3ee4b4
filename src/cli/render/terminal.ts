// Progress on a terminal: the frame is drawn over itself a few times a second.
import { type OutputStream, terminalSize } from '../io.ts';
import type { Theme } from '../theme.ts';
import { type FrameStyle, renderFrame } from './frame.ts';
import type { EventOf } from './match.ts';
import type { Renderer } from './renderer.ts';
import { applyEvent, emptyView, type OperationView } from './state.ts';
import { summaryLines } from './summary.ts';
import { oneLine, prefixOf } from './words.ts';

export interface TerminalOptions {
  readonly stream: OutputStream;
  readonly theme: Theme;
  readonly now: () => Date;
}

const frameMs = 120;
const hideCursor = '\u001B[?25l';
const showCursor = '\u001B[?25h';

export function terminalRenderer(options: TerminalOptions): Renderer {
  const { stream, theme, now } = options;
  const view = emptyView();
  let drawn = 0;
  let tick = 0;
  let timer: NodeJS.Timeout | undefined;

  const draw = (above: readonly string[] = []): void => {
    const style: FrameStyle = { now: now().getTime(), ...terminalSize(stream), theme, tick };
    const frame = renderFrame(view, style);
    const erase = drawn === 0 ? '\r' : `\u001B[${drawn}A\r`;
    // One write, so that no half-drawn frame is seen; the rest of the old frame is cleared below.
    stream.write(`${erase}\u001B[J${[...above, ...frame].map((line) => `${line}\n`).join('')}`);
    drawn = frame.length;
  };
  const start = (): void => {
    stream.write(hideCursor);
    timer ??= setInterval(() => {
      tick += 1;
      draw();
    }, frameMs);
    timer.unref();
  };
  const stop = (above: readonly string[] = []): void => {
    if (timer === undefined) return;
    clearInterval(timer);
    timer = undefined;
    draw(above);
    drawn = 0;
    stream.write(showCursor);
  };
  return {
    handle: (event) => {
      applyEvent(view, event);
      if (event.type === 'operation.started') start();
      if (event.type === 'note') draw([noteLine(event, view, theme)]);
      if (event.type === 'operation.finished') {
        stop();
        for (const line of summaryLines(view, theme)) stream.write(`${line}\n`);
      }
    },
    line: (text) => {
      if (timer === undefined) stream.write(`${text}\n`);
      else draw([text]);
    },
    close: () => stop(),
  };
}

/** Notes stay above the frame. */
function noteLine(event: EventOf<'note'>, view: OperationView, theme: Theme): string {
  const head = event.level === 'warning' ? theme.warning('warning:') : 'note:';
  return `${head} ${prefixOf(view, event.host)}${oneLine(event.message)}`;
}
