// Test files run side by side, each worker on a bed of its own: what hosts of one send or leave must not count for another.
import { currentBed } from '../../testbed/hosts/bed.ts';

const worker = process.env['VITEST_POOL_ID'] ?? '1';
if (worker !== '1') process.env['BKE_TESTBED_DIR'] = `${currentBed().folder}-${worker}`;
