// Every error a user can meet: its exit code, a title, and the paragraph `bke explain CODE` and docs/errors.md print.
import { clusterErrors } from './error-table/cluster.ts';
import { generalErrors } from './error-table/general.ts';
import { initErrors } from './error-table/init.ts';
import { releaseErrors } from './error-table/release.ts';
import { sshErrors } from './error-table/ssh.ts';

export { ExitCode } from './error-table/entry.ts';

/** One table, in parts by the folders that throw them. A test checks that each code is thrown somewhere and explained. */
export const errorTable = {
  ...generalErrors,
  ...sshErrors,
  ...initErrors,
  ...releaseErrors,
  ...clusterErrors,
};

export type ErrorCode = keyof typeof errorTable;
