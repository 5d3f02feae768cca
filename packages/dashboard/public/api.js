/** Refusal of the server, in its own words. */
export class Refusal extends Error {
  constructor(status, problem) {
    super(problem?.detail ?? `The server answered ${status}.`)
    this.status = status
    this.code = problem?.code
    this.current = problem?.current
  }
}

/**
 * An address with names in it, each one segment: pathTo`/api/approvals/${id}`. A browser resolves the
 * segments `.` and `..` even where they are encoded, so those are refused.
 */
export function pathTo(parts, ...names) {
  const segments = names.map((name) => {
    if (typeof name !== 'string' || name === '' || name === '.' || name === '..')
      throw new Refusal(0, { detail: `${JSON.stringify(name)} is not a valid name.` })
    return encodeURIComponent(name)
  })
  return String.raw({ raw: parts }, ...segments)
}

/** One request to the server that this page came from. The browser adds the cookie of the login. */
export async function ask(method, path, body) {
  const hasBody = body !== undefined
  let response
  try {
    response = await fetch(path, {
      method,
      headers: hasBody ? { 'content-type': 'application/json' } : {},
      ...(hasBody ? { body: JSON.stringify(body) } : {}),
    })
  } catch {
    throw new Refusal(0, { detail: 'The server cannot be reached.' })
  }
  const answer = await response.json().catch(() => undefined)
  if (!response.ok) throw new Refusal(response.status, answer)
  return answer
}
