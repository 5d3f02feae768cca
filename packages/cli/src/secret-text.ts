import type { Secret, VaultStatus } from '@gatehouse/contract'
import { asNextStep } from './as-next-step.ts'
import type { View } from './define.ts'
import { escapeText } from './escape-text.ts'
import { renderFields } from './table.ts'
import { shownTimes } from './times.ts'

export const shownList = (entries: readonly string[]): string =>
  entries.length === 0 ? 'none' : entries.map(escapeText).join(', ')

export const shownUse = ({ last_use: use }: Secret): string =>
  use === null
    ? 'never'
    : `${shownTimes(use.at)} by ${use.agent ?? 'the service'} with ${escapeText(use.capability)}${use.host === null ? '' : ` at ${escapeText(use.host)}`}`

/** One secret, without its value. */
export const secretText = (secret: Secret, view: View): string =>
  renderFields(
    [
      ['Name', escapeText(secret.name)],
      ['For', secret.kind === 'service' ? 'the service itself' : 'agents'],
      ['Description', escapeText(secret.description)],
      ['Capabilities', shownList(secret.capabilities)],
      ['Hosts', shownList(secret.hosts)],
      ['Agents', shownList(secret.agents)],
      ['Version', secret.version],
      ['Added', shownTimes(secret.created_at)],
      ['Value of', shownTimes(secret.rotated_at)],
      ['Uses', secret.uses],
      ['Last use', shownUse(secret)],
      ...(secret.rotation_request === null
        ? []
        : ([
            [
              'New value asked for',
              `by ${secret.rotation_request.agent}: ${escapeText(secret.rotation_request.reason)}`,
            ],
          ] as const)),
    ],
    view,
  )

export const vaultText = (vault: VaultStatus, view: View): string =>
  renderFields(
    [
      ['Vault', vault.locked ? 'locked' : 'open'],
      ['Status', vault.status],
      ['Opened by', vault.mode === 'passphrase' ? 'a passphrase' : 'the key file'],
      ['Secrets', vault.secrets],
      ...(vault.tampered.length === 0
        ? []
        : ([['Tampered with', shownList(vault.tampered)]] as const)),
      ...(vault.status === 'degraded'
        ? ([
            ['Why', escapeText(asNextStep(vault.reason ?? '', view.next))],
            ['What to do', escapeText(asNextStep(vault.remedy ?? '', view.next))],
          ] as const)
        : []),
    ],
    view,
  )
