import type MiniSearch from 'minisearch'
import type { Capability, CapabilityRegistry } from '../ports/capability.ts'
import type { ToolSearch } from '../ports/tool-search.ts'

type Entry = Readonly<Record<'name' | 'purpose' | 'arguments', string>> & { readonly id: string }

/** `github.listIssues` → `github list issues`. */
const words = (text: string): string[] =>
  text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')

const entryOf = ({ name, title, purpose, argument_names }: Capability): Entry => ({
  id: name,
  name,
  purpose: `${title} ${purpose}`,
  arguments: argument_names.join(' '),
})

/** From so many letters on, a word may also be the beginning of another, or have a letter wrong. */
const prefixFrom = 3
const fuzzyFrom = 5

const build = async (capabilities: readonly Capability[]): Promise<MiniSearch<Entry>> => {
  const { default: Index } = await import('minisearch')
  const index = new Index<Entry>({
    fields: ['name', 'purpose', 'arguments'],
    tokenize: words,
    searchOptions: {
      boost: { name: 3, purpose: 2 },
      prefix: (word) => word.length >= prefixFrom,
      fuzzy: (word) => (word.length >= fuzzyFrom ? 0.2 : false),
    },
  })
  index.addAll(capabilities.map(entryOf))
  return index
}

/** Ranks by BM25. The index is built with the first search, and anew with the first one after a change. */
export const createToolSearch = (registry: Pick<CapabilityRegistry, 'list'>): ToolSearch => {
  let indexed: readonly Capability[] | null = null
  let index: Promise<MiniSearch<Entry>> | null = null
  return {
    async search(query) {
      const now = registry.list()
      if (index === null || indexed !== now) {
        indexed = now
        index = build(now)
      }
      return (await index).search(query).map(({ id }) => id as string)
    },
  }
}
