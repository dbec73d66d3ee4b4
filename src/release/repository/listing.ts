// What a folder of the repository looks like to a person's browser and to a program.
import type { ChartIndex } from './charts.ts';
import type { DirectoryEntry } from './store.ts';

export interface Listing {
  /** With slashes at both ends. */
  readonly path: string;
  readonly entries: readonly DirectoryEntry[];
  /** Charts only: files that are no valid charts, and why. */
  readonly bad?: ChartIndex['bad'];
}

export function listingJson({ path, entries, bad }: Listing): string {
  return `${JSON.stringify({ path, entries, ...(bad === undefined ? {} : { bad }) }, undefined, 2)}\n`;
}

export function listingHtml({ path, entries, bad = [] }: Listing): string {
  const lines = entries.map(({ name, type }) => {
    const suffix = type === 'directory' ? '/' : '';
    return `<li><a href="${encodeURIComponent(name)}${suffix}">${escapeHtml(name)}${suffix}</a></li>`;
  });
  const faults = bad.map(({ reason }) => `<li>${escapeHtml(reason)}</li>`);
  const up = path === '/' ? [] : ['<li><a href="../">../</a></li>'];
  return [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(path)}</title></head><body>`,
    `<h1>${escapeHtml(path)}</h1>`,
    '<ul>',
    ...up,
    ...lines,
    '</ul>',
    ...(faults.length === 0 ? [] : ['<h2>Not listed in the index</h2>', '<ul>', ...faults, '</ul>']),
    '</body></html>',
    '',
  ].join('\n');
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (letter) => escapes[letter] ?? letter);
}
