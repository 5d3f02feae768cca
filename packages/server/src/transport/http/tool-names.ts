import type { CapabilityError } from '@gatehouse/contract'
import type { App } from '../../app/app.ts'
import { isMembers } from './envelope.ts'

/** A dotted name that stands by itself: not inside of a path, an address or a longer name. */
const dotted = /(?<![\w./@-])([a-z]+)\.([a-z_]+|\*)(?![\w/@]|[.-]\w)/g

/** Fields whose text is the service's own. What agents and people wrote stands in others. */
const ownTexts: ReadonlySet<string> = new Set([
  ...['message', 'action', 'description', 'note', 'reason', 'purpose', 'when_to_use', 'undo_note'],
])

/** Groups whose results tell of other calls, and so name capabilities. */
const tellingGroups: ReadonlySet<string> = new Set([
  'agent',
  'approvals',
  'scheduler',
  'tools',
  'writes',
])

/** Arguments that an agent wrote come back to it as they were. */
const given: ReadonlySet<string> = new Set(['arguments', 'data'])

/** Puts the names of tools into texts that were written with the names of capabilities. */
export class ToolNames {
  readonly #names: () => readonly string[]
  #read: readonly string[] = []
  #capabilities: ReadonlySet<string> = new Set()
  #groups: ReadonlySet<string> = new Set()

  /** `names`: of all capabilities there are now; the same array until something changes. */
  constructor(names: () => readonly string[]) {
    this.#names = names
  }

  /** `quoted`: arguments of the call. A name that stands there may be a file's: it stays as it is. */
  text(text: string, quoted?: unknown): string {
    if (!text.includes('.')) return text
    this.#look()
    return text.replace(dotted, (name, group: string, action: string) => {
      const known = action === '*' ? this.#groups.has(group) : this.#capabilities.has(name)
      if (!known || (quoted !== undefined && JSON.stringify(quoted).includes(name))) return name
      return `${group}__${action}`
    })
  }

  error<E extends CapabilityError>(error: E, quoted?: unknown): E {
    return {
      ...error,
      message: this.text(error.message, quoted),
      recovery: error.recovery.map(({ action, description }) => ({
        action: this.text(action),
        description: this.text(description, quoted),
      })),
    }
  }

  /** A schema with the texts in it. */
  schema(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.schema(item))
    if (!isMembers(schema)) return schema
    return Object.fromEntries(
      Object.entries(schema).map(([keyword, inner]) => [
        keyword,
        keyword === 'description' && typeof inner === 'string'
          ? this.text(inner)
          : this.schema(inner),
      ]),
    )
  }

  /** The data of a result. That of groups which tell of nothing but themselves is handed on as it is. */
  data(group: string, data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    return tellingGroups.has(group)
      ? (this.#within(data) as Readonly<Record<string, unknown>>)
      : data
  }

  #look(): void {
    const names = this.#names()
    if (names === this.#read) return
    this.#read = names
    this.#capabilities = new Set(names)
    this.#groups = new Set(names.map((name) => name.split('.')[0] ?? name))
  }

  #within(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#within(item))
    if (!isMembers(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        name,
        typeof inner === 'string'
          ? ownTexts.has(name)
            ? this.text(inner)
            : inner
          : given.has(name)
            ? inner
            : this.#within(inner),
      ]),
    )
  }
}

const known = new WeakMap<object, ToolNames>()

/** The names of an application, the same for all that speak of it. */
export const toolNamesOf = (app: Pick<App, 'capabilityNames'>): ToolNames => {
  const before = known.get(app)
  if (before) return before
  const made = new ToolNames(() => app.capabilityNames())
  known.set(app, made)
  return made
}
