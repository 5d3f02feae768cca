import { ask, pathTo } from './api.js'
import { Decided, endOf, showApprovals } from './approvals.js'
import { viewOf } from './forms.js'
import { durationOf, timeOf, visible } from './text.js'

const figures = [
  ['Version', ({ version }) => version],
  ['Up for', ({ uptime_seconds }) => durationOf(uptime_seconds)],
  ['Active agents', ({ active_agents }) => active_agents],
  ['Open sessions', ({ active_sessions }) => active_sessions],
  ['Calls in 24 h', ({ capabilities_invoked_24h }) => capabilities_invoked_24h],
  ['Denied in 24 h', ({ policy_violations_24h }) => policy_violations_24h],
]

const figureOf = ([title, value], status) => {
  const [box, dt, dd] = ['div', 'dt', 'dd'].map((name) => document.createElement(name))
  dt.textContent = title
  dd.textContent = String(value(status))
  box.append(dt, dd)
  return box
}

function agentRow(agent) {
  const row = document.createElement('tr')
  const name = document.createElement('th')
  name.scope = 'row'
  name.append(visible(agent.name))
  const cell = (label, content, className = '') => {
    const td = document.createElement('td')
    td.dataset.label = label
    td.className = className
    td.append(content)
    return td
  }
  const seen = agent.last_connected ? timeOf(agent.last_connected) : 'never'
  row.append(
    name,
    cell('Status', agent.status),
    cell('Last connected', seen),
    cell('Tools', agent.tools.length === 0 ? 'all' : agent.tools.join(', ')),
    cell('Calls', String(agent.total_invocations), 'number'),
  )
  return row
}

function agentsTable(agents) {
  if (agents.length === 0) {
    const empty = document.createElement('p')
    empty.className = 'card'
    empty.textContent = 'No agent yet. Make one: gatehouse agent create NAME'
    return empty
  }
  const table = document.createElement('table')
  const titles = table.createTHead().insertRow()
  for (const title of ['Agent', 'Status', 'Last connected', 'Tools', 'Calls']) {
    const th = document.createElement('th')
    th.scope = 'col'
    th.textContent = title
    if (title === 'Calls') th.className = 'number'
    titles.append(th)
  }
  table.createTBody().append(...agents.map(agentRow))
  return table
}

/** The approval that a link from elsewhere leads to: `#approvals/<id>`. */
const linkedApproval = () => /^#approvals\/(appr-[0-9a-z]+)$/.exec(location.hash)?.[1] ?? null

/** In words, where the request that a link leads to waits no more. */
async function resolvedText(id) {
  const approval = await ask('GET', pathTo`/api/approvals/${id}`).catch((error) => {
    if (error.status === 404) return null
    throw error
  })
  if (approval === null) return `There is no request ${id} any more.`
  const by = approval.decided_by === null ? '' : ` by ${approval.decided_by.replace(/^user:/, '')}`
  const end = endOf(approval)
  return `${approval.agent} asked for ${approval.capability}: ${approval.status}${by}.${end && ` ${end}`}`
}

function bringIntoView(card) {
  card.classList.add('linked')
  card.tabIndex = -1
  card.focus({ preventScroll: true })
  card.scrollIntoView({ block: 'start' })
}

function showStatus(part, status) {
  part('#figures').replaceChildren(...figures.map((figure) => figureOf(figure, status)))
  const health = part('#health')
  health.dataset.status = status.health
  health.textContent = [`is ${status.health}`, ...status.health_reasons].join('; ')
}

/** The page after login. `failed` hears of what goes wrong; the stream tells of approvals as they come. */
export function overviewView(whoami, { notice, failed }) {
  const { root, part } = viewOf('overview-view')
  const mayDecide = whoami.role !== 'viewer'

  let closed = false
  /** Whether the notice says that the server is away. */
  let lost = false
  let linked = linkedApproval()
  const decided = new Decided()
  /** Brings the card that a link leads to into view, once; says what became of it where it is not there. */
  const reveal = async () => {
    const id = linked
    if (id === null) return ''
    linked = null
    for (const other of part('#approvals').children) other.classList.remove('linked')
    const card = [...part('#approvals').children].find((one) => one.dataset.id === id)
    if (!card) return resolvedText(id)
    bringIntoView(card)
    return ''
  }
  const followLink = () => {
    linked = linkedApproval()
    if (linked !== null) void refresh()
  }
  addEventListener('hashchange', followLink)

  const refresh = async (message = () => '') => {
    try {
      const [status, { agents }, { approvals, total }] = await Promise.all([
        ask('GET', '/api/status'),
        ask('GET', '/api/agents'),
        ask('GET', '/api/approvals'),
      ])
      showStatus(part, status)
      part('#agents').replaceChildren(agentsTable(agents))
      part('#pending-count').textContent = total > 0 ? `(${total})` : ''
      document.title = total > 0 ? `(${total}) Gatehouse` : 'Gatehouse'
      showApprovals(part('#approvals'), approvals, mayDecide, { refresh, decided })
      const said = (await reveal()) || message()
      if (said) notice(said)
      else if (lost) notice('')
      lost = false
    } catch (error) {
      // A page that was left hears no more of it.
      if (!closed) failed(error)
    }
  }

  const stream = new EventSource('/api/approvals/stream')
  stream.addEventListener('snapshot', () => void refresh())
  stream.addEventListener('approval', ({ data }) => {
    const approval = JSON.parse(data)
    void refresh(() => (decided.ended(approval) ? decided.text(approval.id, 'approve') : ''))
  })
  stream.addEventListener('error', () => {
    lost = true
    notice('Reconnecting to the server…')
    // The browser tries again by itself, unless the server said no.
    if (stream.readyState === EventSource.CLOSED) void refresh()
  })
  const timer = setInterval(() => void refresh(), 15_000)
  const close = () => {
    closed = true
    clearInterval(timer)
    removeEventListener('hashchange', followLink)
    stream.close()
  }
  void refresh()
  return { root, close }
}
