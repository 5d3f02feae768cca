// Facts about the routes that the client needs, without the shapes: those take longer to load than a command runs.
const quoted = (text) => `'${text}'`

/** The fields that an answer always has, for telling another server from this one. */
const fieldsOf = ({ shape = {} }) =>
  Object.keys(shape).filter((name) => !shape[name].safeParse(undefined).success)

/** @param {[string, any]} route name and definition: each has the members that it needs */
const lineOf = ([name, { method, path, query, body, answer, versioned }]) => {
  const facts = { name, method, path }
  if (query) facts.sends = 'query'
  if (body) facts.sends = 'body'
  if (body && versioned) facts.takes = 'if_match'
  if (typeof answer === 'string') facts.answer = answer
  else if (fieldsOf(answer).length > 0) facts.fields = fieldsOf(answer).join(' ')
  const members = Object.entries(facts).map(([key, value]) => `${key}: ${quoted(value)}`)
  return `  { ${members.join(', ')} },\n`
}

export const clientRoutes = {
  file: 'packages/rest-client/src/routes.ts',
  async render() {
    const { routes } = await import('../../packages/contract/dist/routes/index.js')
    const lines = Object.entries(routes).map(lineOf)
    return `// Made by \`npm run generate\` from packages/contract/src/routes.
import type { RouteEntry } from './send.ts'

export const routes: readonly RouteEntry[] = [
${lines.join('')}]
`
  },
}
