import { isDeepStrictEqual } from 'node:util'
import { gateLine, type HookItems } from './client-hooks.ts'
import { type ConfigFormat, isMembers, type Members, readText, unusable } from './config-format.ts'
import { editJson } from './json-format.ts'
import { setHook, setVersion, unsetHook } from './json-hooks.ts'

type Lists = Readonly<Record<string, readonly unknown[]>>

type Change = {
  readonly file: string
  readonly text: string
  /** Id of the client. */
  readonly client: string
  /** Undefined to take them out. */
  readonly items: HookItems | undefined
  readonly isVersioned: boolean
}

/** Lists of hooks of a configuration by event. Raises `ConfigMalformed` and `ConfigUnusable`. */
export function readHooks(
  format: ConfigFormat,
  file: string,
  text: string,
  events: readonly string[],
): Lists {
  const hooks = readText(format, file, text)['hooks']
  if (hooks === undefined || hooks === null) return {}
  if (!isMembers(hooks)) throw unusable(file, 'hooks is no list of hooks by event.')
  const wrong = events.find((event) => event in hooks && !Array.isArray(hooks[event]))
  if (wrong !== undefined) throw unusable(file, `hooks.${wrong} is no list.`)
  const lists = Object.entries(hooks).filter(([, list]) => Array.isArray(list))
  return Object.fromEntries(lists) as Lists
}

/** Places of our hooks in a list. */
const placesOf = (list: readonly unknown[], client: string): number[] =>
  [...list.keys()].filter((i) => gateLine(list[i], client) !== null)

/** Empty lists may be there or not: they say the same. */
const said = (config: Members): Members => {
  const { hooks, ...others } = config
  const lists = Object.entries(isMembers(hooks) ? hooks : {}).filter(
    ([, list]) => !Array.isArray(list) || list.length > 0,
  )
  return lists.length === 0 ? others : { ...others, hooks: Object.fromEntries(lists) }
}

function wantedLists(lists: Lists, { client, items = {} }: Change): Lists {
  const wanted: Record<string, readonly unknown[]> = { ...lists }
  for (const event of new Set([...Object.keys(lists), ...Object.keys(items)])) {
    const list = lists[event] ?? []
    const [first, ...more] = placesOf(list, client)
    const item = items[event]
    const kept = list
      .map((one, i) => (i === first && item !== undefined ? item : one))
      .filter((_one, i) => !more.includes(i) && (i !== first || item !== undefined))
    wanted[event] = first === undefined && item !== undefined ? [...kept, item] : kept
  }
  return wanted
}

/** The edits, one after the other: of those that are too many the last one first. */
function edited(text: string, lists: Lists, { client, items = {}, isVersioned }: Change): string {
  let body = text
  for (const [event, list] of Object.entries(lists)) {
    const places = placesOf(list, client)
    const gone = event in items ? places.slice(1) : places
    for (const at of gone.toReversed()) body = unsetHook(body, event, at)
  }
  for (const [event, item] of Object.entries(items)) {
    const [at] = placesOf(lists[event] ?? [], client)
    if (at === undefined || !isDeepStrictEqual(lists[event]?.[at], item))
      body = setHook(body, event, { at: at ?? null, item })
  }
  return isVersioned && Object.keys(items).length > 0 ? setVersion(body) : body
}

/** The text with our hooks in it or out of it. It is read again: what else would have changed is refused. */
export function changeHooks(format: ConfigFormat, change: Change): string {
  const { file, text, items, isVersioned } = change
  if (items === undefined && text.trim() === '') return text
  const before = readText(format, file, text)
  const lists = readHooks(format, file, text, Object.keys(items ?? {}))
  const after = editJson(text, (body) => edited(body, lists, change))
  const version = isVersioned && items !== undefined && !('version' in before) ? { version: 1 } : {}
  const others = isMembers(before['hooks']) ? before['hooks'] : {}
  const wanted = { ...before, ...version, hooks: { ...others, ...wantedLists(lists, change) } }
  if (isDeepStrictEqual(said(format.read(after)), said(wanted))) return after
  throw unusable(file, 'the hooks cannot be changed without changing more.')
}
