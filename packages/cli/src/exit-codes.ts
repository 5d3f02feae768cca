/** Exit codes, which scripts read. Pinned by exit-codes.test.ts and in the guide. */
export const exitCodes = {
  done: 0,
  failed: 1,
  wrongUsage: 2,
  notReachable: 3,
  notAllowed: 4,
  notFound: 5,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The exit code for a refusal of the server. */
export function exitCodeOf(status: number): ExitCode {
  if (status === 401 || status === 403) return exitCodes.notAllowed
  if (status === 404) return exitCodes.notFound
  if (status === 400) return exitCodes.wrongUsage
  return exitCodes.failed
}
