import { posix } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import type { Files, Told } from '../ports/files.ts'

type Away = { readonly name: string; readonly workspace: string }

/** Answers that nothing has to be looked at for. */
const toldByText = (workspace: string): Partial<Files> => ({
  asks: false,
  locate(path): Told {
    const absolute = posix.resolve(workspace, path)
    const relative = posix.relative(workspace, absolute)
    return { absolute, relative: relative.startsWith('..') ? absolute : relative || '.' }
  },
  canLeadTo: () => true,
  reaches: () => false,
})

/** Folders of an agent that are on another node: a path is told by its text, and whatever would touch it is refused. */
export const awayFiles = ({ name, workspace }: Away): Files =>
  new Proxy(toldByText(workspace) as Files, {
    get(told, asked: keyof Files) {
      if (asked in told) return told[asked]
      throw new GatehouseError('WorkspaceElsewhere', {
        agent: name,
        detail: 'its folder is on another node, or on its way',
      })
    },
  })
