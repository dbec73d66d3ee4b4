// The mark by which bke's own files are told from others'.

/** First words of every unit and configuration file that bke writes; the files in `assets/` begin with them as well. */
export const ownMark = '# Written by bke';

/** First line of a configuration file that is written anew as a whole. */
export const ownHead = `${ownMark}. Edits are lost when bke runs again.\n`;
