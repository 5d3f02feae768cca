let page = ''
let pending = 0

const show = (): void => {
  const title = page === '' ? 'Gatehouse' : `${page} · Gatehouse`
  document.title = pending > 0 ? `(${pending}) ${title}` : title
}

export function setPageTitle(title: string): void {
  page = title
  show()
}

/** Requests that wait, in the tab's title: a person sees it from another page. */
export function setPendingCount(count: number): void {
  pending = count
  show()
}
