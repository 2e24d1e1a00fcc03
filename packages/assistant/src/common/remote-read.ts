/** What all reads of a remote service have in common. */
export const READ = { effect: 'read', untrusted: true, readsWorkspace: false, sends: 'query', timeout: 60 } as const
