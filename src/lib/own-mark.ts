// The mark by which bke's own files are told from others'.

/** First words of every unit and configuration file that bke writes; the files in `assets/` begin with them as well. */
export const ownMark = '# Written by bke';
