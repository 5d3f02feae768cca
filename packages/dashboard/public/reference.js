import { ask } from './api.js'

const notice = document.getElementById('notice')
const list = document.getElementById('operations')
const filter = document.getElementById('filter')

function say(text) {
  notice.textContent = text
  notice.hidden = text === ''
}

function part(title, value) {
  const [heading, block, code] = ['h2', 'pre', 'code'].map((name) => document.createElement(name))
  heading.textContent = title
  code.textContent = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  block.tabIndex = 0
  block.append(code)
  return [heading, block]
}

/** A schema with what it names in place, so that nobody has to look elsewhere; a name within itself stays one. */
function resolved(schema, document, above = []) {
  if (Array.isArray(schema)) return schema.map((one) => resolved(one, document, above))
  if (typeof schema !== 'object' || schema === null) return schema
  const name = /^#\/components\/schemas\/(.+)$/.exec(schema.$ref ?? '')?.[1]
  if (name !== undefined)
    return above.includes(name)
      ? { $ref: schema.$ref }
      : resolved(document.components?.schemas?.[name], document, [...above, name])
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, resolved(value, document, above)]),
  )
}

const contentOf = (content, document) => {
  const [[type, { schema } = {}] = []] = Object.entries(content ?? {})
  return type === undefined ? null : { type, schema: resolved(schema, document) }
}

const parameterText = ({ name, in: place, required, description, schema }) =>
  `${name} (${place}${required ? ', required' : ''}): ${schema?.type ?? 'any'}${description ? ` – ${description}` : ''}`

/** The parts of an operation are drawn when it is opened: there are many, and few are read. */
function fill(target, operation, document) {
  if (target.childElementCount > 0) return
  const { parameters = [], requestBody, responses = {} } = operation
  if (parameters.length > 0)
    target.append(...part('Parameters', parameters.map(parameterText).join('\n')))
  const body = contentOf(requestBody?.content, document)
  if (body) target.append(...part(`Body (${body.type})`, body.schema ?? {}))
  for (const [status, response] of Object.entries(responses)) {
    const answer = contentOf(response.content, document)
    const title = `Answer ${status}${response.description ? `: ${response.description}` : ''}`
    target.append(...part(title, answer ? (answer.schema ?? answer.type) : 'no body'))
  }
}

function operationView(method, path, operation, document) {
  const root = window.document
    .getElementById('operation-view')
    .content.cloneNode(true).firstElementChild
  const find = (selector) => root.querySelector(selector)
  root.id = operation.operationId
  find('.method').textContent = method.toUpperCase()
  find('.path').textContent = path
  find('.summary').textContent = operation.summary ?? ''
  find('.permission').textContent = operation.description ?? ''
  root.addEventListener('toggle', () => fill(find('.parts'), operation, document))
  return root
}

function applyFilter() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean)
  for (const row of list.children) {
    const text = row.firstElementChild.textContent.toLowerCase()
    row.hidden = !words.every((word) => text.includes(word))
  }
}

async function start() {
  const document = await ask('GET', '/api/openapi.json')
  const rows = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      operationView(method, path, operation, document),
    ),
  )
  list.replaceChildren(...rows)
  applyFilter()
  const linked = window.document.getElementById(location.hash.slice(1))
  if (linked && list.contains(linked)) {
    linked.open = true
    linked.scrollIntoView()
  }
}

filter.addEventListener('input', applyFilter)
start().catch((error) => {
  say(
    error.status === 401 ? 'Log in first: this page is for people with an account.' : error.message,
  )
})
