package plan
import ("testing";"time";"fmt")
func TestZZ(t *testing.T){
 t0:=time.Now()
 for _,d:=range sectorDesigns { t1:=time.Now(); s:=sectorSumOf(d[0],d[1]); fmt.Println(d,time.Since(t1),len(s.terms),len(s.few),s.few[:min(len(s.few),5)]) }
 fmt.Println(time.Since(t0))
 t0=time.Now(); sectorSumOf(8,2); fmt.Println("8x2",time.Since(t0)); 
 t0=time.Now(); sectorSumOf(5,3); fmt.Println("5x3",time.Since(t0))
 t0=time.Now(); sectorSumOf(1,16); fmt.Println("1x16",time.Since(t0))
 for _,d:=range append(sectorDesigns,[2]int{8,2},[2]int{5,3},[2]int{1,16},[2]int{4,4}) { s:=sectorSumOf(d[0],d[1])
  for _,blocks:=range []uint64{1,2,100,100000} { for per:=0.1; per<60; per*=1.5 { n:=uint64(per*float64(blocks)); if n==0 {continue}
   a,b:=s.alternating(float64(n),float64(blocks)),s.byLoad(n,blocks)
   if b>1e-9 && b<.1 && (a/b-1>1e-6||a/b-1< -1e-6) {fmt.Println(d,blocks,n,a,b,a/b-1)}
 }}}
 for _,p:=range []float64{1e-3,1e-6,1e-8,1e-9,1e-10,1e-11,1e-12,1e-13,1e-14,1e-15,1e-16,1e-17,1e-18,1e-19,1e-20} { t0=time.Now(); m,w,b,err:=SectorSize(1<<20,p); fmt.Println(p,float64(m)/(1<<20),w,b,err,time.Since(t0)) 
  for _,d:=range sectorDesigns[5:] {m,_:=SectorSizeFor(1<<20,d[0],d[1],p); fmt.Print(d, " ",float64(m)/(1<<20),"; ")}; fmt.Println()}
}
