import { attacksSection } from './attacks.ts'
import { diskSection } from './disk.ts'
import type { Program } from './installation.ts'
import { killsSection } from './kills.ts'
import { limitsSection } from './limits.ts'
import { machineOf, type Report, type SectionReport } from './report.ts'
import { sandboxSection } from './sandbox.ts'
import type { Finding, Section, SectionName, Size } from './section.ts'
import { speedSection } from './speed.ts'
import { tamperingSection } from './tampering.ts'

const sections: Readonly<Record<SectionName, Section>> = {
  kills: killsSection,
  tampering: tamperingSection,
  attacks: attacksSection,
  limits: limitsSection,
  disk: diskSection,
  sandbox: sandboxSection,
  speed: speedSection,
}

type Options = {
  readonly program: Program
  readonly version: string
  readonly names: readonly SectionName[]
  readonly size: Size
  readonly signal: AbortSignal
  /** `share` of all there is, between 0 and 1. */
  readonly progress: (name: SectionName, share: number) => void
}

/** A section that did not run to its end counts against the product, which may be the cause. */
const failed = (cause: unknown): readonly Finding[] => [
  {
    what: 'it could be tried to the end',
    verdict: 'fails',
    detail: cause instanceof Error ? cause.message.slice(0, 2_000) : String(cause),
  },
]

/** Tries one section after the other, each on data directories of its own that are gone afterwards. */
export const runSelftest = async (options: Options): Promise<Report> => {
  const { program, version, names, size, signal, progress } = options
  const startedAt = Date.now()
  const done: SectionReport[] = []
  for (const [i, section] of names.entries()) {
    const began = performance.now()
    const told = (share: number): void => progress(section, (i + share) / names.length)
    told(0)
    const findings = await sections[section]({ program, size, signal, progress: told }).catch(
      (cause: unknown) => {
        signal.throwIfAborted()
        return failed(cause)
      },
    )
    done.push({ section, findings, seconds: (performance.now() - began) / 1000 })
  }
  const fails = done.some(({ findings }) => findings.some(({ verdict }) => verdict === 'fails'))
  return {
    format: 'gatehouse-selftest-v1',
    verdict: fails ? 'fails' : 'holds',
    ...{ version, size, machine: machineOf(), sections: done },
    started_at: new Date(startedAt).toISOString(),
    seconds: (Date.now() - startedAt) / 1000,
  }
}
