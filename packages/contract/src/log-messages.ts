/** Severities of a log message of MCP, which are those of RFC 5424, the least first. */
export const logLevels = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const
export type LogLevel = (typeof logLevels)[number]

export const isLogLevel = (value: unknown): value is LogLevel =>
  (logLevels as readonly unknown[]).includes(value)

export const isAtLeast = (level: LogLevel, least: LogLevel): boolean =>
  logLevels.indexOf(level) >= logLevels.indexOf(least)

/** Message that a server writes to the log of its client. */
export type LogMessage = {
  readonly level: LogLevel
  readonly logger?: string
  readonly data: unknown
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** Where the log messages of a call go. */
export type Logs = {
  /** Lesser ones are left out. */
  readonly level: LogLevel
  tell(message: LogMessage): void
}
