import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join as joinPath } from 'node:path'
import type { NodeKeys } from '@gatehouse/contract'
import { parseInvite } from '@gatehouse/contract/node-invite'
import { CliError, usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'
import { fetchNodeKeys } from '../fetch-node-keys.ts'
import { readInputFile } from '../read-input-file.ts'

/** The configuration may be there before the node is. */
const assertEmpty = (dataDir: string): void => {
  const found = existsSync(dataDir)
    ? readdirSync(dataDir).filter((name) => name !== 'gatehouse.yaml')
    : []
  if (found.length > 0)
    throw new CliError(
      'NotEmpty',
      exitCodes.failed,
      `${dataDir} is not empty; a node begins in a directory of its own.`,
      { recovery: [{ action: '--data-dir DIR', description: 'Name another directory.' }] },
    )
}

const keysIn = ({ status, text }: { readonly status: number; readonly text: string }): NodeKeys => {
  if (status === 200) return JSON.parse(text) as NodeKeys
  const { detail = `status ${status}` } = (JSON.parse(text || '{}') ?? {}) as { detail?: string }
  throw new CliError('NotAdmitted', exitCodes.notAllowed, `The node refuses: ${detail}`, {
    recovery: [
      { action: 'gatehouse nodes invite', description: 'Make a new token on a node that serves.' },
    ],
  })
}

export const join = defineCommand({
  name: 'join',
  summary: 'Join an installation as a new node, with an empty data directory',
  options: {
    from: { value: 'FILE', about: 'what `nodes invite` printed (- for the input)' },
    'database-url': { value: 'URL', about: 'where the database is (as the other node has it)' },
  },
  oneDirectory: true,
  examples: [
    'gatehouse join --from token --data-dir /var/lib/gatehouse',
    'ssh one gatehouse nodes invite | gatehouse join --data-dir /var/lib/gatehouse',
  ],
  async run({ io, places }, { from = '-', 'database-url': given }) {
    const [dataDir] = places.dirs
    assertEmpty(dataDir)
    const invite = parseInvite((await readInputFile(from, io)).trim())
    if (!invite) throw usageError('That is no token of `gatehouse nodes invite`.')
    const { vault_key, policy_key, authority, ...database } = keysIn(await fetchNodeKeys(invite))
    const { writePrivateFile } = await import('@gatehouse/server/platform/data-directory')
    mkdirSync(joinPath(dataDir, 'tls'), { recursive: true, mode: 0o700 })
    if (authority) {
      writePrivateFile(joinPath(dataDir, 'tls', 'ca-key.pem'), authority.key)
      writePrivateFile(joinPath(dataDir, 'tls', 'ca.pem'), authority.cert)
    }
    if (vault_key !== null) writePrivateFile(joinPath(dataDir, 'vault.key'), vault_key)
    if (policy_key !== null) writePrivateFile(joinPath(dataDir, 'policy.key'), policy_key)
    const config = joinPath(dataDir, 'gatehouse.yaml')
    const configured = existsSync(config)
    const url = given ?? database.database_url
    // Another way to the database is past the other node's pooler, too.
    const direct = given === undefined ? database.database_direct_url : null
    const addresses = { database_url: url, database_direct_url: direct }
    const lines = Object.entries(addresses).flatMap(([name, address]) =>
      address === null ? [] : [`${name}: ${JSON.stringify(address)}\n`],
    )
    if (!configured && url !== null) writePrivateFile(config, lines.join(''))
    return {
      data_dir: dataDir,
      vault_key: vault_key !== null,
      authority: authority !== null,
      configured: !configured && url !== null,
    }
  },
  text: ({ data_dir, vault_key, configured }, { next }) =>
    [
      `${escapeText(data_dir)} has the keys of the installation. Start the node: ${next('serve')}`,
      ...(configured
        ? []
        : ['Set database_url in gatehouse.yaml first, as the other nodes have it.']),
      ...(vault_key ? [] : ['The vault has a passphrase: unlock it here once the node runs.']),
    ].join('\n'),
})
