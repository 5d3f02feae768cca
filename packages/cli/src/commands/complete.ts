import { createClient } from '@gatehouse/rest-client'
import { clients } from '../clients/client.ts'
import { findData, placeholderUrl } from '../connect.ts'
import type { DataPlaces } from '../data-places.ts'
import { defineCommand } from '../define.ts'
import { globalOptions } from '../global-options.ts'
import { commands } from './index.ts'

type Names = 'agent' | 'approval' | 'model' | 'secret' | 'user-token'

/** Kind of name that the first word after a command is. */
function namesFor(command: string): Names | null {
  if (/^agent (show|edit|pause|resume|move|rotate|revoke|restore)$/.test(command)) return 'agent'
  if (command === 'policy test') return 'agent'
  if (/^models (show|install|cancel|remove|verify|default|try|start|release)$/.test(command))
    return 'model'
  if (/^approvals (show|approve|reject)$/.test(command)) return 'approval'
  if (/^vault (show|rotate|scope|delete|check)$/.test(command)) return 'secret'
  return command === 'user-token revoke' ? 'user-token' : null
}

async function liveNames(kind: Names, places: DataPlaces): Promise<string[]> {
  const { server } = await findData(places)
  // Completion is no reason to open the store.
  if (!server) return []
  const api = createClient({ baseUrl: placeholderUrl, fetch: server.fetch })
  if (kind === 'agent') return (await api.listAgents()).agents.map(({ name }) => name)
  if (kind === 'model') return (await api.listModels()).models.map(({ id }) => id)
  if (kind === 'approval') return (await api.listApprovals()).approvals.map(({ id }) => id)
  if (kind === 'secret') return (await api.listSecrets()).secrets.map(({ name }) => name)
  return (await api.listUserTokens()).user_tokens.map(({ id }) => id)
}

/** Words that may stand where the last of `words` is being typed. */
export async function candidates(words: readonly string[], places: DataPlaces): Promise<string[]> {
  const before = words.slice(0, -1).filter((word) => !word.startsWith('-'))
  const current = words.at(-1) ?? ''
  const visible = commands.filter(({ name }) => !name.startsWith('__'))
  const entry = [2, 1]
    .map((count) => visible.find(({ name }) => name === before.slice(0, count).join(' ')))
    .find((found) => found !== undefined)
  if (!entry) {
    const prefix = before.length === 0 ? '' : `${before.join(' ')} `
    const nexts = visible
      .filter(({ name }) => name.startsWith(prefix))
      .map(({ name }) => name.slice(prefix.length).split(' ')[0] ?? '')
    return [...new Set(nexts)]
  }
  if (current.startsWith('-')) {
    const own = (await entry.load()).options ?? {}
    return Object.keys({ ...own, ...globalOptions }).map((name) => `--${name}`)
  }
  const kind = namesFor(entry.name)
  const isFirst = before.length === entry.name.split(' ').length
  if (isFirst && /^(dis)?connect$/.test(entry.name)) return clients.map(({ id }) => id)
  return kind && isFirst ? liveNames(kind, places) : []
}

export const complete = defineCommand({
  name: '__complete',
  summary: 'Words that may follow, for the completion of shells',
  args: { line: { about: 'the words so far, separated by line breaks', optional: true } },
  examples: [],
  async run({ places, io }, { line }) {
    const words = (line ?? '').split('\n')
    // A failure completes nothing, since nothing may break a line that is being typed.
    const found = await candidates(words, places).catch(() => [])
    const fitting = found.filter((word) => word.startsWith(words.at(-1) ?? ''))
    if (fitting.length > 0) await io.stdout.write(`${fitting.join('\n')}\n`)
  },
})
