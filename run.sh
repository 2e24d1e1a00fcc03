mount -t overlay -o userxattr,lowerdir=lower,upperdir=up,workdir=wk overlay /tmp/h8x/b/w || exit
cd /
ls -la /tmp/h8x/b/w
bwrap --unshare-all --unshare-user --uid 1000 --gid 1000 --cap-drop ALL --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib64 /lib64 --symlink usr/lib /lib --proc /proc --dev /dev --bind /tmp/h8x/b/w /tmp/h8x/b/w --remount-ro / sh -c "cd /tmp/h8x/b/w; echo bw>bw; id; ls -la; touch /tmp/zzz; mkdir d; mv d e; mv sub sub2"
