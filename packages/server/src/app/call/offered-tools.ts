import type { ListedCapability } from './invoke.ts'

const searchName = 'tools.search'

/** Groups that an agent with a long list is offered beside the search: its own view, and its requests. */
const coreGroups: ReadonlySet<string> = new Set(['agent', 'approvals', 'tools'])

/** Whether the list is long enough to be searched instead of read. */
export const isSearched = (listed: readonly ListedCapability[]): boolean =>
  listed.some(({ capability }) => capability.name === searchName)

/** The tools of a listing that a model is shown: all of them, or few and the means to find the others. */
export const offeredTools = (listed: readonly ListedCapability[]): readonly ListedCapability[] =>
  isSearched(listed) ? listed.filter(({ capability }) => coreGroups.has(capability.group)) : listed
