import type { Program } from './installation.ts'

export const sectionNames = [
  'kills',
  'tampering',
  'attacks',
  'limits',
  'disk',
  'sandbox',
  'speed',
] as const
export type SectionName = (typeof sectionNames)[number]

/** One thing that was tried, and what came of it. */
export type Finding = {
  readonly what: string
  /** `skipped`: it cannot be tried here, and `detail` says why. */
  readonly verdict: 'holds' | 'fails' | 'skipped'
  readonly detail: string
}

/** How much is tried: seconds, minutes, or hours. */
export type Size = 'quick' | 'usual' | 'long'

export type SectionContext = {
  readonly program: Program
  readonly size: Size
  /** How far it is, between 0 and 1. */
  readonly progress: (share: number) => void
  readonly signal: AbortSignal
}

export type Section = (context: SectionContext) => Promise<readonly Finding[]>

export const finding = (what: string, holds: boolean, detail: string): Finding => ({
  what,
  verdict: holds ? 'holds' : 'fails',
  detail,
})

/** The value for each size. */
export const bySize = <T>({ size }: Pick<SectionContext, 'size'>, quick: T, usual: T, long: T): T =>
  ({ quick, usual, long })[size]

/** Begins of a list, for a finding that names what is wrong. */
export const firstOf = (names: readonly string[]): string =>
  names.slice(0, 3).join('; ') + (names.length > 3 ? `; ${names.length - 3} more` : '')
