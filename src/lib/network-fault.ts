// Why a TLS connection failed, in words: bad certificates told apart from a network that can heal.
import { getSystemErrorMap } from 'node:util';
import { errorField } from './thrown.ts';

const certificateFaults: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet; compare the clocks',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for other names',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself and not trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from a CA that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate comes from a CA that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes from a CA that is not trusted',
  CERT_SIGNATURE_FAILURE: 'its certificate comes from a CA that is not trusted',
};

const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOTFOUND',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC',
]);

function codeOf(error: Error): string {
  const code = errorField(error, 'code');
  return typeof code === 'string' ? code : '';
}

/** Why the other side's certificate is not taken; undefined where that is not the fault. */
export function certificateFault(error: Error): string | undefined {
  return certificateFaults[codeOf(error)];
}

/** Whether what answered speaks something else than TLS. */
export function isNoTls(error: Error): boolean {
  return ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'].includes(codeOf(error));
}

/**
 * Why the network failed; undefined where that is not the fault. The address that did not answer is told where it is not `host`, the one that was
 * asked for: a proxy's.
 */
export function networkFault(error: Error, host: string): string | undefined {
  const code = codeOf(error);
  if (!networkCodes.has(code)) return undefined;
  if (code === 'ENOTFOUND') return 'no such host name is known here';
  const errno = errorField(error, 'errno');
  const words = typeof errno === 'number' ? getSystemErrorMap().get(errno)?.[1] : undefined;
  if (words === undefined) return error.message;
  const address = `${String(errorField(error, 'address'))}:${String(errorField(error, 'port'))}`;
  return error.message.includes(address) && address !== host ? `${words} (${address})` : words;
}
