/** A range of time, its ends included; open where one is left out. */
export type Period = {
  readonly since_ms?: number | undefined
  readonly until_ms?: number | undefined
}
