import { Installation, invoke } from './installation.ts'
import { startWithAgent } from './load-agent.ts'
import { bySize, type Finding, finding, type SectionContext } from './section.ts'

/** Calls that race for a limit, and again after a kill in the same window: never one more than it says. */
export const limitsSection = async (context: SectionContext): Promise<readonly Finding[]> => {
  const [limit, callers] = bySize(context, [20, 100], [50, 1_000], [500, 5_000])
  await using gate = new Installation(context.program)
  const policy = `version: 1\nlimits:\n  - { match: system.time, limit: ${limit}, window: 1h }\n`
  let { run, token } = await startWithAgent(gate, policy)
  const race = async (): Promise<{ readonly passed: number; readonly told: boolean }> => {
    const answers = await Promise.all(
      Array.from({ length: callers }, () => invoke(run, token, 'system.time')),
    )
    const refused = answers.filter(({ result }) => result?.success !== true)
    const told = refused.every(({ error }) => Number(error?.data?.['retry_after_seconds']) > 0)
    return { passed: answers.length - refused.length, told }
  }
  const first = await race()
  context.progress(0.5)
  await gate.kill()
  run = await gate.start(['--no-first-agent'])
  const second = await race()
  context.progress(1)
  return [
    finding(
      'a limit that many calls race for lets through exactly as many as it says',
      first.passed === limit && first.told,
      `${first.passed} of ${callers} passed, the limit is ${limit}`,
    ),
    finding(
      'a kill does not open the window again',
      second.passed === 0,
      `${second.passed} passed`,
    ),
  ]
}
