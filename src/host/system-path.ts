// Where programs of a host are looked for, however they are run: nothing of it comes from who started bke.

export const programFolders = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'] as const;

/** As PATH has it. */
export const systemPath = programFolders.join(':');
