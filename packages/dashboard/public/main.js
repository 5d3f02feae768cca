import { ask, Refusal } from './api.js'
import { loginView, setupView, viewOf } from './forms.js'
import { overviewView } from './overview.js'
import { visible } from './text.js'

const main = document.getElementById('main')
const who = document.getElementById('who')
const noticeLine = document.getElementById('notice')
let leave = () => {}

function notice(text) {
  noticeLine.replaceChildren(visible(text))
  noticeLine.hidden = text === ''
}

function show(root) {
  main.replaceChildren(root)
  const field = root.querySelector('input')
  if (field && root.matches('.narrow')) field.focus()
  else main.focus({ preventScroll: true })
}

function showOverview(whoami) {
  leave()
  document.getElementById('who-name').textContent = `${whoami.name} (${whoami.role})`
  who.hidden = false
  const { root, close } = overviewView(whoami, { notice, failed })
  leave = close
  notice('')
  show(root)
}

function showLogin(message = '') {
  leave()
  leave = () => {}
  who.hidden = true
  document.title = 'Gatehouse'
  notice(message)
  show(loginView(showOverview))
}

function failed(error) {
  if (error instanceof Refusal && error.status === 401) showLogin('Your login has ended.')
  else notice(error.message)
}

/** The token of a setup link. It leaves the address at once, so that no history keeps it. */
function takeSetupToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get('setup')
  if (token !== null) history.replaceState(null, '', location.pathname)
  return token
}

async function start() {
  const token = takeSetupToken()
  const { needed } = await ask('GET', '/api/setup')
  if (needed) {
    show(token === null ? viewOf('no-link-view').root : setupView(token, showOverview))
    return
  }
  const whoami = await ask('GET', '/api/session').catch((error) => {
    if (error instanceof Refusal && error.status === 401) return null
    throw error
  })
  if (whoami) showOverview(whoami)
  else showLogin(token === null ? '' : 'This link has been used. Log in with the password.')
}

document.getElementById('log-out').addEventListener('click', () => {
  const out = () => showLogin('You are logged out.')
  void ask('DELETE', '/api/session').then(out, (error) => {
    // A login that ended by itself is as good; one that goes on is not.
    if (error.status === 401) out()
    else notice(error.message)
  })
})

addEventListener('hashchange', () => {
  if (/^#(setup|approval)=/.test(location.hash)) start().catch(failed)
})

start().catch((error) => {
  main.replaceChildren()
  failed(error)
})
