export interface Clock {
  /** Must be wall time in ms since 1970, for display only: it may jump. */
  wall(): number

  /**
   * Must never go back, not even across a restart: the larger of wall time at boot and the last
   * persisted value, plus monotonic time since. Limits, expiries and order use this one. Integer ms.
   */
  now(): number

  /** Must resolve after `ms` of this clock, or at once when `signal` aborts. Must not keep the process alive. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>

  /** Must call back once after `ms`, unless disposed before. Must not keep the process alive. */
  after(ms: number, callback: () => void): Disposable
}
