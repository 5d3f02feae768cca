import { GatehouseError, nearest } from '@gatehouse/contract'
import type { Capability, ChangingRegistry } from '../ports/capability.ts'

type Known = {
  readonly list: readonly Capability[]
  /** A Map, so that `__proto__` and `constructor` are names that nobody has. */
  readonly byName: ReadonlyMap<string, Capability>
  readonly names: readonly string[]
}

const conflict = (detail: string): GatehouseError => new GatehouseError('Conflict', { detail })

const knownOf = (capabilities: readonly Capability[]): Known => {
  const list = capabilities.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const byName = new Map(list.map((capability) => [capability.name, capability]))
  if (byName.size !== list.length) {
    const twice = list.find(({ name }, i) => list[i + 1]?.name === name)
    throw conflict(`two capabilities are called ${twice?.name}`)
  }
  return { list, byName, names: [...byName.keys()] }
}

/** The one list of capabilities. Readers see it whole before a change or whole after it. */
class Registry implements ChangingRegistry {
  readonly #listeners = new Set<() => void>()
  #known: Known

  constructor(capabilities: readonly Capability[]) {
    this.#known = knownOf(capabilities)
  }

  find(name: string): Capability | null {
    return this.#known.byName.get(name) ?? null
  }

  list(): readonly Capability[] {
    return this.#known.list
  }

  names(): readonly string[] {
    return this.#known.names
  }

  similar(name: string): readonly string[] {
    return nearest(name, this.#known.names)
  }

  replaceGroup(group: string, capabilities: readonly Capability[]): void {
    const stray = capabilities.find((capability) => capability.group !== group)
    if (stray) throw conflict(`${stray.name} is not of the group ${group}`)
    const others = this.#known.list.filter((capability) => capability.group !== group)
    this.#known = knownOf([...others, ...capabilities])
    for (const listener of [...this.#listeners]) listener()
  }

  onChange(listener: () => void): Disposable {
    const own = () => listener()
    this.#listeners.add(own)
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) }
  }
}

export const createRegistry = (capabilities: readonly Capability[]): ChangingRegistry =>
  new Registry(capabilities)
