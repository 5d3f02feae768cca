import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { type Client, ClientError } from '@gatehouse/rest-client'
import { withTokenFile } from '../private-file.ts'
import type { ConnectionFiles, KeptHooks } from './connection.ts'

/** The token of the hooks: the one that is in place, or a new one, which ends that before it. */
export type HookToken =
  | { readonly step: 'keep'; readonly id: string }
  | { readonly step: 'create'; readonly ends: string | null }

export async function planHookToken(
  api: Pick<Client, 'listUserTokens'>,
  known: KeptHooks | undefined,
  { agent, file }: { readonly agent: string; readonly file: string },
): Promise<HookToken> {
  if (known === undefined) return { step: 'create', ends: null }
  const { user_tokens } = await api.listUserTokens()
  const found = user_tokens.find(({ id }) => id === known.token_id)
  if (!found || found.revoked_at !== null) return { step: 'create', ends: null }
  const isPresent = await readFile(file, 'utf8').catch(() => null)
  if (isPresent !== null && found.agent === agent) return { step: 'keep', id: found.id }
  return { step: 'create', ends: found.id }
}

/** Ends a token, unless somebody has done so already. */
export async function endHookToken(api: Client, id: string): Promise<void> {
  try {
    await api.revokeUserToken({ id })
  } catch (error) {
    if (!(error instanceof ClientError && error.status === 404)) throw error
  }
}

/** Puts the token into its file, and returns its id. */
export async function provideHookToken(
  api: Client,
  token: HookToken,
  agent: string,
  { dir, hookToken }: ConnectionFiles,
): Promise<string> {
  if (token.step === 'keep') return token.id
  const beside = `${hookToken}.new`
  await mkdir(dir, { recursive: true, mode: 0o700 })
  await rm(beside, { force: true })
  const label = `hooks of ${agent}`
  const made = await withTokenFile(beside, () =>
    api.createUserToken({ label, role: 'hook', agent }),
  )
  await rename(beside, hookToken)
  if (token.ends !== null) await endHookToken(api, token.ends)
  return made.id
}
