import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { readHooks } from './change-hooks.ts'
import { type ClientSpec, homeOf, type Place } from './client.ts'
import { gateLine, type HookItems, type HookSpec, hookSpecs } from './client-hooks.ts'
import { clientVersion, isOlder } from './client-version.ts'
import { codexHookHash } from './codex-trust.ts'
import { readConfigFile, textOf } from './config-file.ts'
import { isMembers, loadFormat, type Members } from './config-format.ts'

export type HooksFound = {
  readonly state: 'in place' | 'changed' | 'missing'
  readonly gaps: readonly Gap[]
}

/** Why calls get past hooks that are in place, none does, or each is asked about twice. */
export type Gap = {
  readonly what: string
  /** Fix: an act, or commands of this program; null where connecting again does. */
  readonly fix: string | readonly string[] | null
}

const gap = (what: string, fix: Gap['fix']): Gap => ({ what, fix })

type HooksFile = {
  readonly path: string
  readonly config: Members
  readonly found: HookItems
  /** Place of each in the list of its event. */
  readonly places: Readonly<Record<string, number>>
}

/** Hooks of ours in one file, the first for each event; null where there are none. */
async function readOurs(spec: HookSpec, id: string, name: string): Promise<HooksFile | null> {
  const file = await readConfigFile(name, 0o600)
  if (file.bytes === null) return null
  const format = await loadFormat(spec.format)
  const text = textOf(file)
  const found: Record<string, Members> = {}
  const places: Record<string, number> = {}
  for (const [event, list] of Object.entries(readHooks(format, file.path, text, []))) {
    const at = list.findIndex((one) => gateLine(one, id) !== null)
    const item = list[at]
    if (!isMembers(item)) continue
    found[event] = item
    places[event] = at
  }
  if (Object.keys(found).length === 0) return null
  return { path: file.path, config: format.read(text), found, places }
}

/** Whether they are as connect writes them, whatever their line is. */
const isComplete = (spec: HookSpec, id: string, found: HookItems, { platform }: Place): boolean =>
  Object.values(found).some((item) =>
    isDeepStrictEqual(found, spec.items(gateLine(item, id) ?? '', platform)),
  )

const isOn = (config: Members, ...path: readonly string[]): boolean => {
  const value = path.reduce<unknown>((at, key) => (isMembers(at) ? at[key] : undefined), config)
  return value === true
}

const isOff = (config: Members, ...path: readonly string[]): boolean => {
  const value = path.reduce<unknown>((at, key) => (isMembers(at) ? at[key] : undefined), config)
  return value === false
}

const switchedOff = (name: string): Gap => gap(`${name} switches its hooks off`, `change ${name}`)

const failsClosedSince = [2, 1, 295]

async function gapsOfClaude({ config }: HooksFile, place: Place): Promise<Gap[]> {
  const off = isOn(config, 'disableAllHooks') ? [switchedOff('disableAllHooks')] : []
  const version = await clientVersion('claude', place)
  if (version === null || !isOlder(version, failsClosedSince)) return off
  const [wanted, has] = [failsClosedSince, version].map((parts) => parts.join('.'))
  return [
    ...off,
    gap(
      `Claude Code ${has} lets a call through when a hook times out`,
      `update Claude Code to ${wanted}`,
    ),
  ]
}

/** Codex remembers a hook by its place in its file, and leaves out one that is another since a person trusted it. */
async function gapsOfCodex({ path, found, places }: HooksFile, place: Place): Promise<Gap[]> {
  const folder = place.env.CODEX_HOME || join(homeOf(place), '.codex')
  const file = await readConfigFile(join(folder, 'config.toml'), 0o600)
  const config = (await loadFormat('toml')).read(textOf(file))
  const off = isOff(config, 'features', 'hooks') ? [switchedOff('features.hooks')] : []
  const { hooks } = config
  const states = isMembers(hooks) ? hooks['state'] : undefined
  const state = isMembers(states) ? states[`${path}:pre_tool_use:${places['PreToolUse']}:0`] : {}
  const { enabled, trusted_hash: trusted } = isMembers(state) ? state : {}
  if (enabled === false)
    return [...off, gap('the hook is switched off in Codex', 'run /hooks in Codex')]
  const hash = codexHookHash(found['PreToolUse'] ?? {}, place.platform)
  if (typeof trusted === 'string' && (hash ?? trusted) === trusted) return off
  const what =
    typeof trusted === 'string'
      ? 'Codex leaves the hook out, which has changed since you trusted it'
      : 'Codex leaves the hook out until you trust it'
  return [...off, gap(what, 'run /hooks in Codex')]
}

/** Copilot CLI also runs the hooks that a project has for Claude Code, and not those of the person. */
async function runsHooksOfClaude(place: Place): Promise<boolean> {
  const { 'claude-code': claude } = hookSpecs
  return !!claude && (await readOurs(claude, 'claude-code', claude.files.project(place))) !== null
}

async function gapsOfCopilot({ config }: HooksFile, place: Place): Promise<Gap[]> {
  if (isOn(config, 'disableAllHooks')) return [switchedOff('disableAllHooks')]
  if (!(await runsHooksOfClaude(place))) return []
  const what =
    'its own tools are asked about twice in this project, where it runs the hooks of Claude Code, too'
  return [gap(what, ['disconnect claude-code --scope project', 'connect claude-code'])]
}

const gapsOf: Readonly<Record<string, (file: HooksFile, place: Place) => Promise<Gap[]>>> = {
  'claude-code': gapsOfClaude,
  codex: gapsOfCodex,
  gemini: async ({ config }) =>
    isOff(config, 'hooksConfig', 'enabled') ? [switchedOff('hooksConfig.enabled')] : [],
  copilot: gapsOfCopilot,
}

/** A word of the line of a hook, which may be in quotes for the shell. */
const tokenFile = /--token-file (?:'([^']*)'|(\S+))/

async function missingTokens({ found }: HooksFile, id: string): Promise<Gap[]> {
  const lines = Object.values(found).map((item) => tokenFile.exec(gateLine(item, id) ?? ''))
  const files = new Set(lines.map((words) => words?.[1] ?? words?.[2] ?? ''))
  const gone: string[] = []
  for (const file of files)
    if (file !== '' && !(await stat(file).catch(() => null))) gone.push(file)
  return gone.map((file) => gap(`there is no ${file}, so its own tools are blocked`, null))
}

/** Hooks of ours in the files of the person and of the project; none where the client has none. */
async function readAll(id: string, spec: HookSpec, place: Place): Promise<readonly HooksFile[]> {
  const { user, project } = spec.files
  const files: HooksFile[] = []
  for (const name of new Set([user(place), project(place)])) {
    const file = await readOurs(spec, id, name)
    if (file) files.push(file)
  }
  return files
}

/** Whether each call of Copilot CLI in the folder is asked about twice. */
export async function isAskedTwice(place: Place): Promise<boolean> {
  const { copilot } = hookSpecs
  if (!copilot || !(await runsHooksOfClaude(place))) return false
  return (await readAll('copilot', copilot, place)).length > 0
}

/** The hooks of a client, of the person and of the project; null for a client that has none. */
export async function inspectHooks({ id }: ClientSpec, place: Place): Promise<HooksFound | null> {
  const spec = hookSpecs[id]
  if (!spec) return null
  const files = await readAll(id, spec, place)
  const [first] = files
  if (!first) return { state: 'missing', gaps: [] }
  const complete = files.find(({ found }) => isComplete(spec, id, found, place))
  const one = complete ?? first
  const gaps = [...(await missingTokens(one, id)), ...((await gapsOf[id]?.(one, place)) ?? [])]
  return { state: complete ? 'in place' : 'changed', gaps }
}
