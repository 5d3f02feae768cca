import type { NotificationKind } from '@gatehouse/contract'
import type { Notice } from '../ports/notifier.ts'

/** Where to, and what: always JSON. */
export type Post = { readonly url: string; readonly body: string }

const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const forWebhook = (url: string, notice: Notice): Post => ({ url, body: JSON.stringify(notice) })

/** The form in which every character can be said; the topic moves from the path into the body. */
const forNtfy = (url: string, { title, text, urgent, link }: Notice): Post => {
  const server = new URL(url)
  const parts = server.pathname.split('/')
  const topic = decodeURIComponent(parts.pop() ?? '')
  server.pathname = parts.join('/') || '/'
  const click = link === null ? {} : { click: link }
  return {
    url: server.href,
    body: JSON.stringify({ topic, title, message: text, priority: urgent ? 4 : 3, ...click }),
  }
}

/** @SECURITY Texts of agents are text there too: no links and no mentions of theirs; notifier.test.ts. */
const forSlack = (url: string, { title, text, link }: Notice): Post => {
  const lines = [`*${slackText(title)}*`, slackText(text)]
  if (link !== null) lines.push(`<${link}|Open in Gatehouse>`)
  return { url, body: JSON.stringify({ text: lines.filter((line) => line !== '').join('\n') }) }
}

/** Kinds that are a request over HTTP. */
export type PostKind = Exclude<NotificationKind, 'mail'>

export const formats: Readonly<Record<PostKind, (url: string, notice: Notice) => Post>> = {
  webhook: forWebhook,
  ntfy: forNtfy,
  slack: forSlack,
}
