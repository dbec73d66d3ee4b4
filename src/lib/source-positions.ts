// Stack traces of the built binary name its chunks; the chunks' source maps, which are in the binary too, tell the places in the source.
import { SourceMap } from 'node:module';
import { readAsset } from './assets.ts';

const position = /\bbke:([\w.-]+\.js):(\d+):(\d+)/g;

/** `bke:handler-AB12.js:40:7` becomes `src/commands/init/handler.ts:31:9`, anywhere in the text. What no map knows stays as it is. */
export async function withSourcePositions(text: string): Promise<string> {
  const names = new Set([...text.matchAll(position)].map(([, name]) => name ?? ''));
  const maps = new Map<string, SourceMap>();
  for (const name of names) maps.set(name, await readMap(name));
  return text.replaceAll(position, (place: string, name: string, line: string, column: string) => {
    const origin = maps.get(name)?.findOrigin(Number(line), Number(column));
    if (origin === undefined || !('fileName' in origin)) return place;
    return `${origin.fileName.replace(/^(\.\.\/)+/, '')}:${origin.lineNumber}:${origin.columnNumber}`;
  });
}

async function readMap(name: string): Promise<SourceMap> {
  return new SourceMap(JSON.parse(await readAsset(`chunks/${name}.map`)));
}
