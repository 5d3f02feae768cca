/** Meaning of the codes of the system, databases and the network, in our words. */
const words: Readonly<Record<string, string>> = {
  EACCES: 'the permission is missing (EACCES)',
  EAGAIN: 'the system is out of resources (EAGAIN)',
  EADDRINUSE: 'the address is in use (EADDRINUSE)',
  ECONNREFUSED: 'nothing listens at the address (ECONNREFUSED)',
  ECONNRESET: 'the connection was cut (ECONNRESET)',
  EDQUOT: 'the quota of the disk is used up (EDQUOT)',
  EEXIST: 'the file already exists (EEXIST)',
  EHOSTUNREACH: 'no route leads to the host (EHOSTUNREACH)',
  EIO: 'the disk failed (EIO)',
  EMFILE: 'too many files are open (EMFILE)',
  ENFILE: 'too many files are open (ENFILE)',
  ENETUNREACH: 'no route leads to the network (ENETUNREACH)',
  ENOENT: 'a file or folder is missing (ENOENT)',
  ENOMEM: 'memory is used up (ENOMEM)',
  ENOSPC: 'the disk is full (ENOSPC)',
  ENOTFOUND: 'the host name is unknown (ENOTFOUND)',
  EPERM: 'the system refuses it (EPERM)',
  EPIPE: 'the connection was cut (EPIPE)',
  EROFS: 'the file system is read-only (EROFS)',
  ETIMEDOUT: 'no answer came in time (ETIMEDOUT)',
}

const codeOf = (cause: unknown): string => {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? code : ''
}

/**
 * Describes a caught error by its code, never by its text: the text of a database, a library or the system
 * may quote stored values and paths of the host. Who needs it finds it in the log, as the cause.
 *
 * @SECURITY foreign-text.test.ts
 */
export const describeSystemFailure = (cause: unknown): string =>
  words[codeOf(cause)] ?? 'an unexpected failure, described in the log of the service'
