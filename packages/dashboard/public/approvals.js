import { ask, pathTo, Refusal } from './api.js'
import { onSubmit, viewOf } from './forms.js'
import { timeOf, visible } from './text.js'

const pre = (text) => {
  const block = document.createElement('pre')
  const code = document.createElement('code')
  code.append(visible(text, { lines: true }))
  block.append(code)
  return block
}

/** Preview as the server drew it up; nothing of it is left out. */
function previewOf(preview) {
  if (!preview) return []
  const parts = []
  for (const [name, value] of Object.entries(preview.headers ?? {})) parts.push(`${name}: ${value}`)
  const { kind: _kind, text, headers: _headers, ...rest } = preview
  if (typeof text === 'string') parts.push(...(parts.length > 0 ? ['', text] : [text]))
  if (Object.keys(rest).length > 0) parts.push(JSON.stringify(rest, null, 2))
  return [pre(parts.join('\n'))]
}

function cardOf(approval, mayDecide, page) {
  const { root, part } = viewOf('approval-view')
  root.dataset.id = approval.id
  root.dataset.stale = approval.stale ?? ''
  part('h3').append(visible(approval.agent), ' asks for ', visible(approval.capability))
  part('.meta').append(
    'Asked ',
    timeOf(approval.requested_at),
    ', expires ',
    timeOf(approval.expires_at),
    ` · ${approval.id}`,
  )
  const { rule, reason } = approval
  const where = rule ? `${rule.file}:${rule.line}` : 'no rule'
  part('.why').append(visible(reason ?? 'Policy asks for a person'), ' (', visible(where), ')')
  const said = part('.said')
  if (approval.agent_reason === null) said.remove()
  else said.append('The agent says: “', visible(approval.agent_reason), '”')
  const stale = part('.stale')
  if (approval.stale === null) stale.remove()
  else
    stale.append(
      'Stale: ',
      visible(approval.stale),
      '. It cannot be approved: reject it or let the agent ask again.',
    )
  part('.preview').append(...previewOf(approval.preview))
  const [sent, effective] = [approval.arguments, approval.effective_arguments].map((args) =>
    JSON.stringify(args, null, 2),
  )
  part('.arguments').append(visible(effective, { lines: true }))
  if (sent === effective) part('.sent').remove()
  else part('.sent .arguments').append(visible(sent, { lines: true }))
  part('.digest').textContent = `Your decision is bound to ${approval.digest}`
  const form = part('form')
  part('button[value="approve"]').disabled = approval.stale !== null
  if (!mayDecide) form.remove()
  else onSubmit(form, (data) => decide(approval, data, page))
  return root
}

const endings = {
  succeeded: 'ran and succeeded',
  failed: 'ran and failed',
  refused: 'was not run',
  interrupted: 'was interrupted; check what was done',
}

/** How the run of an approved request ended, in a sentence; empty before that. */
export function endOf({ capability, execution: { state, result } }) {
  const said = endings[state]
  if (!said) return ''
  const error = result?.success === false ? `: ${result.error.message}` : ''
  return `${capability} ${said}${error || '.'}`
}

/** Decisions made on this page, until their runs have ended. */
export class Decided {
  #ends = new Map()

  begin(id) {
    this.#ends.set(id, '')
  }

  /** Whether this is the end of a run that was approved here. */
  ended(approval) {
    const end = endOf(approval)
    if (end === '' || !this.#ends.has(approval.id)) return false
    this.#ends.set(approval.id, end)
    return true
  }

  /** The sentence about it, with the end of its run where that is known. */
  text(id, decision) {
    const end = this.#ends.get(id) ?? ''
    return `${decision === 'approve' ? 'Approved' : 'Rejected'}: ${id}${end && `. ${end}`}`
  }
}

async function decide({ id, digest }, data, { refresh, decided }) {
  const decision = data.get('decision')
  const reason = data.get('reason').trim()
  decided.begin(id)
  try {
    await ask('POST', pathTo`/api/approvals/${id}/${decision}`, {
      ...(decision === 'approve' ? { digest } : {}),
      ...(reason === '' ? {} : { reason }),
    })
  } catch (error) {
    // Conflicts: somebody else was quicker, or it expired or is stale; the list says how it stands.
    const stands = ['ApprovalNotPending', 'ApprovalStale']
    if (!(error instanceof Refusal) || !stands.includes(error.code)) throw error
    await refresh(() => error.message)
    return
  }
  await refresh(() => decided.text(id, decision))
}

/** Brings the request that the address names into view, once: clients of agents link to it. */
function showLinked(cards) {
  const id = new URLSearchParams(location.hash.slice(1)).get('approval')
  const card = cards.find(({ dataset }) => dataset.id === id)
  if (!card) return
  history.replaceState(null, '', location.pathname)
  card.scrollIntoView()
}

/** Shows what waits. Cards that still say what is so stay, with what was typed into them. */
export function showApprovals(target, approvals, mayDecide, page) {
  const before = new Map([...target.children].map((card) => [card.dataset.id, card]))
  const cards = approvals.map((approval) => {
    const card = before.get(approval.id)
    return card?.dataset.stale === (approval.stale ?? '') ? card : cardOf(approval, mayDecide, page)
  })
  if (cards.length === 0) {
    const empty = document.createElement('p')
    empty.className = 'card'
    empty.textContent = 'Nothing waits. What agents ask for appears here by itself.'
    cards.push(empty)
  }
  const same =
    cards.length === target.children.length && cards.every((c, i) => c === target.children[i])
  if (!same) target.replaceChildren(...cards)
  showLinked(cards)
}
