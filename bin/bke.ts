// The entry of the binary.
import { main } from '../src/cli/main.ts';
import { restartWithoutNodeVariables } from '../src/lib/own-environment.ts';

restartWithoutNodeVariables();
process.exitCode = await main(process.argv.slice(2));
