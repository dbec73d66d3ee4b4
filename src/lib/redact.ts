// Takes known secrets out of text that came from elsewhere (output of a host, an error of a library) before a person or a log gets it.
import { shellQuote } from './quote.ts';

export type Redactor = (text: string) => string;

const mask = '[secret]';

/** Shorter ones would blank out ordinary words; bke itself never writes a secret of any length into a message. */
const shortest = 4;

/**
 * @param secrets values that must not be seen: also found where they were quoted for a shell or for JSON, and line by line.
 */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const forms = new Set<string>();
  for (const secret of secrets) {
    for (const form of formsOf(secret)) if (form.length >= shortest) forms.add(form);
  }
  // Longest first: a secret that holds another one must not leave its rest behind.
  const ordered = [...forms].toSorted((a, b) => b.length - a.length);
  return (text) => ordered.reduce((result, form) => result.replaceAll(form, mask), text);
}

function formsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).filter((line) => !line.startsWith('-----'));
  return [secret, ...lines].flatMap((form) => [
    form,
    shellQuote(form.replaceAll('\0', '')).slice(1, -1),
    JSON.stringify(form).slice(1, -1),
  ]);
}

/** Takes user:password@ out of URLs. */
export function redactUrlLogins(text: string): string {
  return text.replaceAll(/(\w:\/\/)[^\s/@]*@/g, `$1${mask}@`);
}
