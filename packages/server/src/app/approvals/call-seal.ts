import { GatehouseError } from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { Basics } from '../call/basics.ts'
import type { AgentOp } from '../call/op.ts'

const sealTtlMs = 60 * 60_000
const sealLengthMax = 256

type SealDeps = Pick<Basics, 'storage' | 'digest' | 'clock'>

/** A call as its caller wrote it. */
export type SealedCall = { readonly name: string; readonly arguments: unknown }

/** The key is a secret of the request that leaves the store in no other way, so every node has it. */
const macOf = (
  { digest }: SealDeps,
  approval: StoredApproval,
  expires: string,
  call: SealedCall,
): string => {
  const { nonce } = parseStored<{ readonly nonce: string }>(
    approval.bound_json,
    'approvals.bound_json',
  )
  const { id, agent } = approval
  return digest.hmac(
    `gatehouse-call-seal-v1:${nonce}`,
    digest.canonical({ id, agent, expires, call: { name: call.name, arguments: call.arguments } }),
  )
}

/**
 * A text that a client carries from the answer of a held call to its repetition. It names the request and
 * is worth something only to that agent, for that call, for an hour. It decides nothing.
 */
export async function sealCall(
  deps: SealDeps,
  approval: StoredApproval,
  call: SealedCall,
): Promise<string> {
  const expires = String(Math.floor(deps.clock.now() + sealTtlMs))
  return `${approval.id}.${expires}.${macOf(deps, approval, expires, call)}`
}

const refuse = (detail: string): never => {
  throw new GatehouseError('InvalidParams', {
    detail: `requestState ${detail}; repeat the call without it`,
    member: 'requestState',
  })
}

/**
 * The request that a sealed call names.
 * @SECURITY A seal of another agent or call, or one that was changed or has expired, opens nothing;
 * client-cannot-decide.test.ts.
 */
export async function openCallSeal(
  op: AgentOp,
  deps: SealDeps,
  input: { readonly seal: string; readonly call: SealedCall },
): Promise<string> {
  const { seal, call } = input
  const [id = '', expires = '', mac = '', ...rest] = seal.slice(0, sealLengthMax).split('.')
  const approval = rest.length === 0 ? await deps.storage.approvals.find(id) : null
  const own = approval?.agent === op.actor.name ? approval : null
  if (!own || !deps.digest.equal(macOf(deps, own, expires, call), mac))
    return refuse('is not of this call')
  return Number(expires) > deps.clock.now() ? id : refuse('has expired')
}
