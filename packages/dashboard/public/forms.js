import { ask } from './api.js'

/** The content of a template, and its parts by selector. */
export function viewOf(id) {
  const root = document.getElementById(id).content.cloneNode(true).firstElementChild
  return { root, part: (selector) => root.querySelector(selector) }
}

/** Sends a form once at a time, and shows what the server refused where it was typed. */
export function onSubmit(form, send) {
  const problem = form.querySelector('.problem')
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    // Before the buttons are switched off: the data leaves out what is.
    const data = new FormData(form, event.submitter)
    const buttons = form.querySelectorAll('button')
    for (const button of buttons) button.disabled = true
    problem.hidden = true
    try {
      await send(data)
    } catch (error) {
      problem.textContent = error.message
      problem.hidden = false
    } finally {
      for (const button of buttons) button.disabled = false
    }
  })
}

const nameIn = (data) => {
  const name = data.get('name').trim()
  return name === '' ? {} : { name }
}

export function loginView(done) {
  const { root, part } = viewOf('login-view')
  onSubmit(part('form'), async (data) => {
    done(await ask('POST', '/api/session', { password: data.get('password'), ...nameIn(data) }))
  })
  return root
}

export function setupView(token, done) {
  const { root, part } = viewOf('setup-view')
  onSubmit(part('form'), async (data) => {
    const password = data.get('password')
    if (password !== data.get('again')) throw new Error('The two passwords differ.')
    done(await ask('POST', '/api/setup', { token, password, ...nameIn(data) }))
  })
  return root
}
