import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Installation, invoke, pause } from './installation.ts'
import { type Ready, startWithAgent } from './load-agent.ts'
import { type Finding, finding, firstOf, type SectionContext } from './section.ts'

const policy = `version: 1
rules:
  - { match: process.run, tier: autonomous }
limits:
  - { match: process.run, limit: 1000, window: 1m }
`

/** A line for a shell inside of the sandbox; it says ESCAPED where it could do what it may not. */
const escapes = (
  { run }: Ready,
  dataDir: string,
  marker: string,
): Readonly<Record<string, string>> => {
  const port = (url: string): string => new URL(url).port
  const reach = (url: string): string =>
    `(exec 3<>/dev/tcp/127.0.0.1/${port(url)}) 2>/dev/null && echo ESCAPED`
  return {
    'the token of the command line': `cat '${join(dataDir, 'cli-token')}' 2>/dev/null && echo ESCAPED`,
    'the signing key of the log': `cat '${join(dataDir, 'audit/audit.key')}' 2>/dev/null && echo ESCAPED`,
    'the environment of the service': `cat /proc/${run.pid}/environ 2>/dev/null | grep -q . && echo ESCAPED`,
    'the memory of the service': `head -c 1 /proc/${run.pid}/mem 2>/dev/null | grep -q . && echo ESCAPED`,
    'a signal to the service': `kill -0 ${run.pid} 2>/dev/null && echo ESCAPED`,
    'the gateway': reach(run.gateway_url),
    'the User API': reach(run.user_api_url),
    'the dashboard': reach(run.dashboard_url),
    'a file outside of the folders of the agent': `echo x > '${marker}' 2>/dev/null && test -s '${marker}' && echo ESCAPED-HERE`,
  }
}

const runShell = async ({ run, token }: Ready, line: string): Promise<string | null> => {
  const { result } = await invoke(run, token, 'process.run', {
    ...{ command: 'bash', args: ['-c', `${line}; true`] },
  })
  return result?.success === true ? JSON.stringify(result.data) : null
}

/** A program that did not run has shown nothing, which is no escape either. */
const outcomeOf = (
  tried: number,
  broken: readonly string[],
  untried: readonly string[],
): string => {
  if (broken.length > 0) return `reached: ${firstOf(broken)}`
  if (untried.length > 0) return `could not be tried: ${firstOf(untried)}`
  return `${tried} of ${tried} refused`
}

export const sandboxSection = async (context: SectionContext): Promise<readonly Finding[]> => {
  await using gate = new Installation(context.program)
  const ready = await startWithAgent(gate, policy)
  const honest = await runShell(ready, 'echo inside > made.txt && cat made.txt')
  if (honest === null || !honest.includes('inside')) {
    const { result } = await invoke(ready.run, ready.token, 'process.run', {
      command: 'true',
    })
    const type = result?.error?.type ?? 'it did not run'
    const detail = `programs do not run in a sandbox here (${type}); the doctor says why`
    return [{ what: 'escapes from the sandbox', verdict: 'skipped', detail }]
  }
  const marker = join(gate.dataDir, 'escaped.txt')
  const broken: string[] = []
  const untried: string[] = []
  const tries = Object.entries(escapes(ready, gate.dataDir, marker))
  for (const [i, [what, line]] of tries.entries()) {
    const said = await runShell(ready, line)
    if (said === null) untried.push(what)
    else if (said.includes('ESCAPED"') || said.includes('ESCAPED\\n')) broken.push(what)
    context.progress((i + 1) / (tries.length + 1))
  }
  // Files that a sandbox of its own shows are not those of the machine.
  if (existsSync(marker)) broken.push('a file outside of the folders of the agent')
  await runShell(ready, "(setsid bash -c 'sleep 3; echo late > late.txt' &) ; exit 0")
  await pause(4_000)
  const late = existsSync(join(ready.workspace, 'late.txt'))
  context.progress(1)
  writeFileSync(join(ready.workspace, 'seen.txt'), 'kept')
  return [
    finding(
      'a program in the sandbox reaches nothing of the service',
      broken.length + untried.length === 0,
      outcomeOf(tries.length, broken, untried),
    ),
    finding(
      'no process outlives its call',
      !late,
      late ? 'a detached child wrote a file later' : 'a detached child was ended',
    ),
    finding(
      'programs work in their own folder',
      readFileSync(join(ready.workspace, 'made.txt'), 'utf8') === 'inside\n',
      'a file was written and read',
    ),
  ]
}
