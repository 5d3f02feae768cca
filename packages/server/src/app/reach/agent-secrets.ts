import type { AgentSecrets } from '../../ports/capability.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { Vault } from '../../ports/vault.ts'
import type { Basics } from '../call/basics.ts'
import type { Call } from '../call/call.ts'
import { raiseAlert } from '../supervision/alerts.ts'

type Deps = Pick<Basics, 'storage' | 'auditLog' | 'clock' | 'ids' | 'digest' | 'events'> & {
  readonly secrets: Secrets
  readonly vault: Pick<Vault, 'requestRotation'>
}

/** Secrets as one call may use them: in the name of its agent and its capability, and no other. */
export const secretsOf = (deps: Deps, { op, agent, capability }: Call): AgentSecrets => ({
  list: () => deps.secrets.listFor(agent.name),

  use: (name, host, work) =>
    deps.secrets.use(
      {
        name,
        agent: agent.name,
        capability: capability.name,
        host,
        request_id: op.request_id,
        session_id: op.session_id,
      },
      work,
    ),

  scrub: (value) => deps.secrets.scrub(value),
  scrubStream: (chunks) => deps.secrets.scrubStream(chunks),

  async requestRotation(name, reason) {
    await deps.vault.requestRotation({ name, agent: agent.name, reason })
    const { id } = await raiseAlert(op, deps, {
      source: `agent:${agent.name}`,
      kind: 'secret_rotation',
      severity: 'warning',
      message: `${agent.name} asks for a new value of the secret ${name}: ${reason}`,
      context: { secret: name },
      dedup_key: `agent:${agent.name}:secret:${name}`,
    })
    return { secret_name: name, alert_id: id }
  },
})
