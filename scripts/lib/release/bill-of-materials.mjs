const purlOf = ({ name, version }) => `pkg:npm/${name.replace('@', '%40')}@${version}`

const componentOf = (library) => ({
  'bom-ref': `bundled:${library.name}@${library.version}`,
  type: 'library',
  name: library.name,
  version: library.version,
  scope: 'required',
  purl: purlOf(library),
  ...(library.identifier ? { licenses: [{ expression: library.identifier }] } : {}),
})

/** A CycloneDX bill of npm, with the libraries that are inside of the package itself and not beside it. */
export const addBundled = (bill, libraries) => {
  const own = bill.metadata.component['bom-ref']
  const bundled = libraries.map(componentOf)
  return {
    ...bill,
    components: [...bill.components, ...bundled],
    dependencies: bill.dependencies.map((entry) =>
      entry.ref === own
        ? { ...entry, dependsOn: [...entry.dependsOn, ...bundled.map((each) => each['bom-ref'])] }
        : entry,
    ),
  }
}
