import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Installation } from './installation.ts'
import { bySize, type Finding, finding, firstOf, type SectionContext } from './section.ts'

/** Services that are started on one data directory at once: one serves, the others name it and say what to do. */
export const startTogether = async (context: SectionContext): Promise<Finding> => {
  const count = bySize(context, 3, 20, 20)
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-together-'))
  const gates = Array.from({ length: count }, () => new Installation(context.program, folder))
  try {
    const started = await Promise.all(
      gates.map((gate) =>
        gate.start(['--no-first-agent']).then(
          ({ pid }) => pid,
          () => null,
        ),
      ),
    )
    const pids = started.filter((pid) => pid !== null)
    const wrong = gates
      .filter((_, i) => started[i] === null)
      .map(({ output }) => output)
      .filter((told) => !told.includes(`Process ${pids[0]}`) || !told.includes('try:'))
    return finding(
      'of services started at once on one data directory one serves, and the others name it',
      pids.length === 1 && wrong.length === 0,
      wrong.length === 0 ? `${pids.length} of ${count} serve` : firstOf(wrong).slice(0, 500),
    )
  } finally {
    await Promise.all(gates.map((gate) => gate.kill()))
    rmSync(folder, { recursive: true, force: true })
  }
}
