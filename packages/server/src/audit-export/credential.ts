import type { Secrets } from '../ports/secrets.ts'

/** A secret of the vault that a target is opened with. */
export type Credential = {
  value(): Promise<string>
  /** Asks the vault again the next time: it was refused, and may have changed. */
  forget(): void
}

/** Kept until it is refused: each use is an entry of the log, and an export must not be what makes the log grow. */
export const credentialOf = (
  secrets: Pick<Secrets, 'use'>,
  name: string,
  host: string,
): Credential => {
  let known: string | null = null
  return {
    async value() {
      const use = { name, agent: null, capability: 'service:audit-export', host }
      known ??= await secrets.use(use, (value) => Promise.resolve(value))
      return known
    },
    forget() {
      known = null
    },
  }
}
