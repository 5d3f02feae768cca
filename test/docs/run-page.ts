import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadSettings } from '../../packages/server/src/config/load.ts'
import { invoke, type Run } from '../support/server.ts'
import { hasOutput, shapeDifferences } from './compare-output.ts'
import type { Block } from './read-blocks.ts'
import { readCalls } from './read-calls.ts'
import type { Output, Shell } from './shell.ts'

export type Page = {
  readonly shell: Shell
  readonly run: Run
  readonly userToken: string
  /** An agent that `text calls` and `json call` are made by. */
  readonly agentToken: string
}

type State = { last: Output }
type Check = (page: Page, block: Block, state: State) => Promise<string | null>

const root = new URL('../..', import.meta.url).pathname

/** Null where the policy is valid, its tests included. */
const validatePolicy = async (page: Page, text: string, agent?: string): Promise<string | null> => {
  const response = await fetch(`${page.run.user_api_url}/api/policies/validate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${page.userToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text, ...(agent === undefined ? {} : { agent }) }),
  })
  const verdict = (await response.json()) as { valid?: boolean }
  return verdict.valid === true ? null : JSON.stringify(verdict)
}

const shell: Check = async (page, { text }, state) => {
  state.last = await page.shell.run(text)
  const { failed, stdout, stderr } = state.last
  return failed ? `${stdout}\n${stderr}` : null
}

/** With `from`, the text is that of a file in `examples/policies`, below its first line, which says what it is for. */
const policy: Check = async (page, { text, options }) => {
  const whole = /^version:/m.test(text) ? text : `version: 1\n${text}`
  const { from } = options
  const file =
    from === undefined ? null : readFileSync(join(root, 'examples/policies', from), 'utf8')
  if (file !== null && file.slice(file.indexOf('\n') + 1) !== text)
    return `examples/policies/${from} has another text`
  return validatePolicy(page, whole, options['agent'])
}

/** Conditions alone, one on each line. */
const conditions: Check = (page, { text }) => {
  const rules = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `  - match: "*"\n    ${line}\n    tier: approval_required\n`)
  return validatePolicy(page, `version: 1\nrules:\n${rules.join('')}`)
}

const config: Check = async (page, { text }) => {
  const file = join(page.shell.folder, 'gatehouse.yaml')
  writeFileSync(file, text)
  loadSettings({ config: file, 'data-dir': page.shell.folder }, {})
  return null
}

const output: Check = async (_, { text }, { last }) => {
  const real = `${last.stdout}\n${last.stderr}`
  return hasOutput(real, text) ? null : `the output was:\n${real}`
}

/** A command after `$ `, and below it what it prints. */
const session: Check = async (page, block, state) => {
  const [first = '', ...rest] = block.text.split('\n')
  const failed = await shell(page, { ...block, text: first.replace(/^\$ /, '') }, state)
  return failed ?? output(page, { ...block, text: rest.join('\n') }, state)
}

/** A call's arguments have to fit; what became of it only where the page says so. */
const calls: Check = async (page, { text }) => {
  const found = readCalls(text)
  if (found.length === 0) return 'there is no call in it'
  for (const { capability, args, result } of found) {
    const { error, result: answer } = await invoke(page.run, page.agentToken, capability, args)
    const wrong = error !== undefined && error.code === -32602
    if (wrong || answer?.error?.type === 'InvalidArguments')
      return `${capability}: ${JSON.stringify(error ?? answer)}`
    if (result && String(answer?.data?.[result.field]) !== result.value)
      return `${capability} answered ${JSON.stringify(answer ?? error)}`
  }
  return null
}

const call: Check = (page, block) => {
  const { capability, arguments: args } = JSON.parse(block.text)
  return calls(page, { ...block, text: `${capability} ${JSON.stringify(args)}` }, {} as State)
}

/** Written into the page's folder, for the steps below it. */
const file: Check = async (page, { text, options, language }) => {
  if (language === 'json') JSON.parse(text)
  writeFileSync(join(page.shell.folder, options['file'] ?? ''), text)
  return null
}

const shape: Check = async (page, { text, options }) => {
  const real = JSON.parse(readFileSync(join(page.shell.folder, options['like'] ?? ''), 'utf8'))
  return shapeDifferences(real, JSON.parse(text)).join('\n') || null
}

const program =
  (name: (line: number) => string, commands: (file: string) => string): Check =>
  async (page, block, state) => {
    const written = name(block.line)
    writeFileSync(join(page.shell.folder, written), block.text)
    return shell(page, { ...block, text: commands(written) }, state)
  }

const tsc = `node ${join(root, 'node_modules/typescript/bin/tsc')} --strict --skipLibCheck --module nodenext \\
  --target es2023 --lib es2023,esnext.disposable --typeRoots ${join(root, 'node_modules/@types')} --types node`

const checks: Readonly<Record<string, Check>> = {
  'sh run': shell,
  'console run': session,
  'text output': output,
  'text picture': async () => null,
  'text calls': calls,
  'json call': call,
  'json file': file,
  'json shape': shape,
  'yaml policy': policy,
  'yaml conditions': conditions,
  'yaml config': config,
  'yaml file': file,
  'python run': program(
    (line) => `line_${line}.py`,
    (name) => `python3 -B ${name}`,
  ),
  'js run': program(
    (line) => `line-${line}.mjs`,
    (name) => `node ${name}`,
  ),
  'ts run': program(
    (line) => `line-${line}.mts`,
    (name) => `${tsc} ${name} && node ${name.replace(/mts$/, 'mjs')}`,
  ),
}

/** Why the block does not say how it is tested; null where it does. */
export const unmarked = ({ language, mode, options }: Block): string | null => {
  if (mode === 'skip') return options['skip'] ? null : 'skip needs a reason'
  return checks[`${language} ${mode}`]
    ? null
    : `"${language} ${mode}" is no way to test a block; there are: ${Object.keys(checks).join(', ')}`
}

/** Addresses that guides show are those of a service with the usual ports. */
const withAddresses = (text: string, { gateway_url, user_api_url, dashboard_url }: Run): string =>
  text
    .replaceAll('http://127.0.0.1:7700', gateway_url)
    .replaceAll('ws://127.0.0.1:7700', gateway_url.replace('http', 'ws'))
    .replaceAll('http://127.0.0.1:7703', user_api_url)
    .replaceAll(/https:\/\/(?:gatehouse\.localhost|127\.0\.0\.1):7800/g, dashboard_url)

/** Folders of the machine that a command names are folders of the page. */
const inFolder = (text: string, folder: string): string =>
  text.replaceAll(/(?<![\w.$/-])\/(?=(?:srv|mnt)\b|tmp\/drill)/g, `${folder}/`)

/** Tests the blocks of a page in order, and names the first that is wrong. */
export const runPage = async (page: Page, blocks: readonly Block[]): Promise<string | null> => {
  const state: State = { last: { failed: false, stdout: '', stderr: '' } }
  for (const block of blocks) {
    const { language, mode, line } = block
    if (mode === 'skip') continue
    const addressed = withAddresses(block.text, page.run)
    const text = language === 'sh' ? inFolder(addressed, page.shell.folder) : addressed
    const check = checks[`${language} ${mode}`] as Check
    let problem: string | null
    try {
      // oxlint-disable-next-line no-await-in-loop -- in their order: each stands on those before it
      problem = await check(page, { ...block, text }, state)
    } catch (error) {
      problem = String(error)
    }
    if (problem !== null) return `line ${line} (${language} ${mode}): ${problem}`
  }
  return null
}
