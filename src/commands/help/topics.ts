// Help about things that are no single command.

export interface Topic {
  readonly name: string;
  readonly title: string;
  readonly text: string;
}

export const topics: readonly Topic[] = [
  {
    name: 'exit-codes',
    title: 'Exit codes',
    text: `  0    done
  1    failed
  2    the command line is not understood, or a confirmation is missing; nothing was done
  3    a file or value given is not valid
  4    a check before the work failed
  5    a remote host could not be reached or refused
  6    something did not happen in time
  7    someone else is working on the same thing, or it was changed meanwhile
  70   a bug in bke
  129, 130, 143   stopped by a hangup, Ctrl-C or a TERM signal

Of several errors it is the code that all of them have, else 1; where some hosts could not be
reached and checks failed on others, 5.

'bke explain' lists all error codes, 'bke explain CODE' tells what one means and how to mend it.`,
  },
  {
    name: 'output',
    title: 'Output',
    text: `Results go to standard output, all else (progress, questions, hints, errors) to standard error.

  -o table    columns for people; -o wide has more of them
  -o json     one JSON value; lists are {"kind": "List", "items": […]}
  -o yaml     the same as YAML
  -o name     names only, one per line

A command that only acts (init, reset, …) takes -o json alone: its events go to standard output,
one JSON object per line, the last being operation.finished. Progress for people is then shown only
where --progress asks for it.

With -o json an error is one line of JSON on standard error: {"kind": "Error", "exitCode": 5,
"errors": [{"code": "BKE_…", "message": "…", "host": "…", "hint": "…"}]}. Standard output is then
empty, or valid JSON up to where the command came.

Colours are left out where a stream is no terminal, with --no-color, where NO_COLOR is set and where
TERM is dumb; FORCE_COLOR=1 or CLICOLOR_FORCE=1 brings them to pipes.`,
  },
  {
    name: 'scripts',
    title: 'Scripts',
    text: `A script can rely on:

  exit codes       as 'bke help exit-codes' lists them
  error codes      BKE_… in errors; 'bke explain' lists them. Messages and hints are for people.
  -o json, yaml    names and meanings of fields; new ones may come: ignore what you do not know
  -o name          one name per line
  standard output  nothing but the result; all else goes to standard error

Columns, progress lines and the order of fields are for people and change.

  bke init --bundle FILE --yes   ends with 0 where all stands, also where it stood before
  bke reset --all --mount --yes  ends with 0 where nothing is left, also where nothing was
  bke status -o json             {"kind": "List", "bundle": …, "running": …, "clusters": …,
                                 "certificateEnds": …,
                                 "items": [{"name", "state", "version", "address",
                                 "dataBytes", "since", "unit", "reason"}]}
                                 state: healthy, unhealthy, incomplete, starting, stopped,
                                 failed, missing or pending (an init that runs has not
                                 come to it yet)
                                 items is empty where init has not run here
                                 exit code 0 where every item is healthy, else 1
  bke bundle verify FILE         exit code 0 where it is whole and signed by someone trusted, else 3
  bke operation list -o name     ids, the newest last; 'bke operation show ID -o json' has events

--no-input makes sure that nothing waits for an answer; without a terminal nothing is asked anyway.`,
  },
  {
    name: 'progress',
    title: 'Progress',
    text: `  --progress tty     one line for each phase, kept up to date; below it hosts that failed or wait
  --progress plain   one line with the time for each event, a sign of life every 30 seconds
  --progress json    one JSON object for each event, on standard error
  --progress auto    tty on a terminal, else plain

-q shows errors only, -v also the beginning of each step (as plain lines), -vv all that steps tell.
Every run keeps its events in a journal: 'bke operation list' and 'bke operation show ID' read them.

Ctrl-C (or TERM or HUP) once stops at the next safe point and says what state each host is in; a
second time ends bke at once, in the middle of a step. Running the same command again goes on from
there: what is done already is not done twice. Where bke only watches (bke cluster create once its
operation runs, bke operation attach), Ctrl-C stops the watching alone: the operation goes on.`,
  },
  {
    name: 'environment',
    title: 'Environment variables',
    text: `  NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, TERM   colours, see 'bke help output'
  XDG_STATE_HOME, HOME                          where users other than root keep journals
                                                ($XDG_STATE_HOME/bke/operations)
  BKE_WORKSPACE                                 where init keeps its data; --data-dir wins

NODE_OPTIONS and other variables of Node.js are without effect on the bke binary.`,
  },
];

export function findTopic(name: string): Topic | undefined {
  return topics.find((topic) => topic.name === name);
}
